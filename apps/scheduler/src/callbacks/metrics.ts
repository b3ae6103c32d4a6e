import type { Metrics } from '@yardmaster/server';
import { Counter, Gauge } from 'prom-client';
import { FAULTS, type PostOutcome } from './http-post.js';

/** Metrics that each attempt at a callback updates. */
export interface CallbackMetrics {
  began(): void;
  ended(response: PostOutcome): void;
}

const STATUSES = ['1xx', '2xx', '3xx', '4xx', '5xx'];

function outcomeOf(response: PostOutcome): string {
  if ('error' in response) return response.fault;
  // A receiver may send any three digits.
  return STATUSES[Math.floor(response.statusCode / 100) - 1] ?? 'http';
}

/** Create the metrics of attempts at callbacks. */
export function callbackMetrics({ registry }: Metrics): CallbackMetrics {
  const registers = [registry];
  const attempts = new Counter({
    name: 'yardmaster_callback_attempts_total',
    help: 'Attempts at callbacks, by the class of the response status, or by why there was no response.',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of [...STATUSES, ...FAULTS]) attempts.inc({ outcome }, 0);
  const inFlight = new Gauge({
    name: 'yardmaster_callbacks_in_flight',
    help: 'Attempts at callbacks that are being made now.',
    registers,
  });
  return {
    began: () => inFlight.inc(),
    ended(response) {
      inFlight.dec();
      attempts.inc({ outcome: outcomeOf(response) });
    },
  };
}
