import type { Metrics } from '@yardmaster/server';
import { Counter, Gauge } from 'prom-client';
import { FAULTS, type PostOutcome } from './callbacks/http-post.js';

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

/** Metrics that each sweep updates. */
export interface SweepMetrics {
  swept(): void;
  failed(): void;
  /** A step of Redis' clock was noticed. */
  stepped(direction: 'forward' | 'back'): void;
}

/** Create the metrics of sweeps. */
export function sweepMetrics({ registry }: Metrics, idleMs: () => number): SweepMetrics {
  const registers = [registry];
  new Gauge({
    name: 'yardmaster_sweep_age_seconds',
    help: 'Time since a sweep for deadlines in this process last made progress; from 30 s on, it is not live.',
    registers,
    collect() {
      this.set(idleMs() / 1000);
    },
  });
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const sweeps = counter('yardmaster_sweeps_total', 'Sweeps for deadlines, including those that failed.');
  const failures = counter('yardmaster_sweep_failures_total', 'Sweeps for deadlines that failed.');
  const steps = new Counter({
    name: 'yardmaster_redis_clock_steps_total',
    help: "Steps of Redis' clock of more than 2 s that this process has noticed, forward or back.",
    labelNames: ['direction'],
    registers,
  });
  for (const direction of ['forward', 'back']) steps.inc({ direction }, 0);
  return {
    swept: () => sweeps.inc(),
    failed: () => failures.inc(),
    stepped: (direction) => steps.inc({ direction }),
  };
}
