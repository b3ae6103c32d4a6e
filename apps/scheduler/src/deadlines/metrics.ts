import type { Metrics } from '@yardmaster/server';
import { Counter, Gauge } from 'prom-client';

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
