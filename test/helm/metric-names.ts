import { readFile } from './chart.js';

/** Metrics of prom-client that the chart uses. */
const PROCESS_METRICS = [
  'nodejs_eventloop_lag_p99_seconds',
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
] as const;

const ROW = /^\| `(yardmaster_\w+)` \| \w+ \| (.*?) \|/gm;

/**
 * Labels of every metric by name, from docs/metrics.md, which another test compares with the exported metrics. Names of
 * histograms have no _bucket, _sum and _count.
 */
export const METRICS: Record<string, readonly string[]> = Object.fromEntries([
  ...[...readFile('docs/metrics.md').matchAll(ROW)].map(([, name, labels]) => [
    name,
    [...(labels as string).matchAll(/`(\w+)`/g)].map(([, label]) => label),
  ]),
  ...PROCESS_METRICS.map((name) => [name, []]),
]);
