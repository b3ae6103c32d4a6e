import type { Metrics } from '@yardmaster/backend';
import { Counter, Gauge } from 'prom-client';
import { type Answer, FAULTS } from '../callbacks/send.js';

/** Told of each attempt at a callback. */
export interface CallbackMetrics {
  began(): void;
  ended(answer: Answer): void;
}

const STATUSES = ['1xx', '2xx', '3xx', '4xx', '5xx'];

function outcomeOf(answer: Answer): string {
  if ('error' in answer) return answer.fault;
  // A receiver may send any three digits.
  return STATUSES[Math.floor(answer.statusCode / 100) - 1] ?? 'http';
}

/** Make the metrics of attempts at callbacks. */
export function callbackMetrics({ registry }: Metrics): CallbackMetrics {
  const registers = [registry];
  const attempts = new Counter({
    name: 'yardmaster_callback_attempts_total',
    help: 'Attempts at callbacks, by the class of the status that was answered, or by why there was none.',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of [...STATUSES, ...FAULTS]) attempts.inc({ outcome }, 0);
  const inFlight = new Gauge({
    name: 'yardmaster_callbacks_in_flight',
    help: 'Attempts at callbacks that are being made just now.',
    registers,
  });
  return {
    began: () => inFlight.inc(),
    ended(answer) {
      inFlight.dec();
      attempts.inc({ outcome: outcomeOf(answer) });
    },
  };
}
