import { readFile } from './chart.js';

/** What prom-client exports besides, as far as the chart asks for it. */
const OF_THE_PROCESS = [
  'nodejs_eventloop_lag_p99_seconds',
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
] as const;

const ROW = /^\| `(yardmaster_\w+)` \| \w+ \| (.*?) \|/gm;

/**
 * Labels of every metric, by its name, as docs/metrics.md has them, which is held against what the processes export.
 * Histograms are there without _bucket, _sum and _count.
 */
export const METRICS: Record<string, readonly string[]> = Object.fromEntries([
  ...[...readFile('docs/metrics.md').matchAll(ROW)].map(([, name, labels]) => [
    name,
    [...(labels as string).matchAll(/`(\w+)`/g)].map(([, label]) => label),
  ]),
  ...OF_THE_PROCESS.map((name) => [name, []]),
]);
