import type { Metrics } from '@yardmaster/backend';
import { Counter, Gauge } from 'prom-client';

/** Told of each sweep's end. */
export interface SweepMetrics {
  swept(): void;
  failed(): void;
}

/** Make the metrics of sweeps. */
export function sweepMetrics({ registry }: Metrics, idleMs: () => number): SweepMetrics {
  const registers = [registry];
  new Gauge({
    name: 'yardmaster_sweep_age_seconds',
    help: 'How long ago this process last got on with a sweep for deadlines; it is not live from 30 on.',
    registers,
    collect() {
      this.set(idleMs() / 1000);
    },
  });
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const sweeps = counter('yardmaster_sweeps_total', 'Sweeps for deadlines that were made, failed ones included.');
  const failures = counter('yardmaster_sweep_failures_total', 'Sweeps for deadlines that failed.');
  return {
    swept: () => sweeps.inc(),
    failed: () => failures.inc(),
  };
}
