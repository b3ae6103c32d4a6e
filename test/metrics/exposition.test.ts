import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Counter, Histogram, Registry } from 'prom-client';
import { createFastCounter, FastHistogram, type Series } from '../../packages/server/src/metrics/http.js';
import { sharedRead } from '../../packages/server/src/metrics/registry.js';
import { type ServiceOptions, startService } from '../support/service.js';

const linesOf = async (registry: Registry) => (await registry.metrics()).split('\n').sort();

/** Label values with characters that the text of a scrape escapes, and with others. */
const UNUSUAL = ['', 'plain', 'a "b" \\ c', 'two\nlines', 'äöü 漢 €', '{x="y"} 1 #', '\\n', '1e3'];

describe('FastHistogram', () => {
  const BUCKETS = [0.001, 0.0025, 0.1, 1, 2];
  type Observed = [method: string, route: string, seconds: number];
  const observed: Observed[] = [
    ...BUCKETS.map((bound): Observed => ['GET', '/bounds', bound]),
    ...BUCKETS.map((bound): Observed => ['POST', '/bounds', bound + Number.EPSILON * 4]),
    ...[0, 1e-9, 2.000_001, 1e6].map((seconds): Observed => ['GET', '/outside', seconds]),
    ...Array.from({ length: 500 }, (_, n): Observed => ['GET', '/many', (n * 7919) / 100_003]),
    ...UNUSUAL.map((label): Observed => [label, `of ${label}`, 0.05]),
  ];

  it('FastHistogram is scraped like a histogram of prom-client, line for line', async () => {
    const [ours, theirs] = [new Registry(), new Registry()];
    const labelNames: ('method' | 'route')[] = ['method', 'route'];
    const options = { name: 'took_seconds', help: 'How long "it" took \\ in all.\nEach time.', labelNames };
    const durations = new FastHistogram({ ...options, buckets: BUCKETS, registry: ours });
    const histogram = new Histogram({ ...options, buckets: BUCKETS, registers: [theirs] });
    const series = new Map<string, Series>();
    for (const [n, [method, route, seconds]] of observed.entries()) {
      if (n % 100 === 0) expect(await linesOf(ours)).toEqual(await linesOf(theirs));
      const key = `${method} ${route}`;
      series.set(key, series.get(key) ?? durations.series([method, route]));
      series.get(key)?.observe(seconds);
      histogram.observe({ method, route }, seconds);
    }
    const lines = await linesOf(ours);
    expect(lines).toEqual(await linesOf(theirs));
    expect(lines).toContain('took_seconds_bucket{le="0.1",method="GET",route="/bounds"} 3');
    expect(lines).toContain('took_seconds_bucket{le="+Inf",method="GET",route="/outside"} 4');
  });
});

describe('createFastCounter', () => {
  const labelNames = ['from', 'to'] as const;
  const options = { name: 'moved_total', help: 'Jobs "moved".\nIn all.', labelNames };

  it('createFastCounter is scraped like a counter of prom-client, line for line', async () => {
    const [ours, theirs] = [new Registry(), new Registry()];
    const make = createFastCounter<'from' | 'to'>({ ...options, registers: [ours] });
    const counter = new Counter({ ...options, registers: [theirs] });
    expect(await linesOf(ours)).toEqual(await linesOf(theirs));
    const all = UNUSUAL.map((from) => ({ series: make({ from, to: 'there' }), labels: { from, to: 'there' } }));
    for (let round = 0; round < 3; round++) {
      for (const [n, { series, labels }] of all.entries()) {
        series.count += round * n * 1_000_003;
        counter.inc(labels, round * n * 1_000_003);
      }
      expect(await linesOf(ours)).toEqual(await linesOf(theirs));
    }
  });

  it('createFastCounter loses no increment made during a scrape', async () => {
    const registry = new Registry();
    const series = createFastCounter<'from' | 'to'>({ ...options, registers: [registry] })({ from: 'a', to: 'b' });
    const scrapes = Array.from({ length: 20 }, () => {
      series.count++;
      return registry.metrics();
    });
    for (const text of await Promise.all(scrapes)) expect(text).toMatch(/^moved_total\{from="a",to="b"\} \d+$/m);
    expect(await registry.metrics()).toContain('moved_total{from="a",to="b"} 20\n');
  });
});

describe('sharedRead', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('sharedRead shares a read with all callers during it and within the next second', async () => {
    let readings = 0;
    const read = sharedRead(async () => ++readings);
    expect(await Promise.all([read(), read(), read()])).toEqual([1, 1, 1]);
    jest.advanceTimersByTime(999);
    expect(await read()).toBe(1);
    jest.advanceTimersByTime(1);
    expect(await read()).toBe(2);
  });

  it('sharedRead returns null when a read takes too long, and starts no other read before it has ended', async () => {
    let readings = 0;
    const read = sharedRead(() => new Promise<number>(() => readings++));
    for (let round = 0; round < 2; round++) {
      const asked = [read(), read()];
      await jest.advanceTimersByTimeAsync(2_000);
      expect(await Promise.all(asked)).toEqual([null, null]);
    }
    expect(readings).toBe(1);
  });

  it('sharedRead returns null when a read fails, and reads again at the next call', async () => {
    const outcomes = [Promise.reject(new Error('away')), Promise.resolve(7)];
    const read = sharedRead(() => outcomes.shift() as Promise<number>);
    expect([await read(), await read()]).toEqual([null, 7]);
  });
});

const page = readFileSync(fileURLToPath(new URL('../../docs/metrics.md', import.meta.url)), 'utf8');

const rows = [
  ...page.matchAll(/^\| `(yardmaster_\w+)` \| (\w+) \| (.*?) ?\| (every|api|gateway|scheduler) \| (.+) \|$/gm),
].map(([, name, type, labels = '', process]) => ({
  name: name as string,
  type: type as string,
  labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label as string).sort(),
  process: process as string,
}));

/** Return the metrics that an app exports: types by name, and the labels of its series. */
async function exportsOf(app: Required<ServiceOptions>['app']) {
  const service = await startService({}, { app, isOwn: app !== 'standalone' });
  try {
    await service.http.call('GET', '/livez');
    const { text } = await service.http.call('GET', '/metrics');
    const types = new Map(
      [...text.matchAll(/^# TYPE (yardmaster_\w+) (\w+)$/gm)].map(([, name, type]) => [name, type]),
    );
    const labels = new Map<string, string[]>();
    for (const [, series, list] of text.matchAll(/^(yardmaster_\w+)\{(.*)\} \S+$/gm)) {
      const names = [...(list as string).matchAll(/(\w+)="/g)].map(([, label]) => label as string);
      labels.set(
        (series as string).replace(/_(bucket|sum|count)$/, ''),
        names.filter((label) => label !== 'le').sort(),
      );
    }
    return { types, labels };
  } finally {
    await service.stop();
  }
}

const APPS: { app: Required<ServiceOptions>['app']; processes: string[] }[] = [
  { app: 'api', processes: ['every', 'api'] },
  { app: 'gateway', processes: ['every', 'gateway'] },
  { app: 'scheduler', processes: ['every', 'scheduler'] },
  { app: 'standalone', processes: ['every', 'api', 'gateway', 'scheduler'] },
];

it.each(APPS)('docs/metrics.md names exactly the metrics of the $app, with their types and labels', async (row) => {
  const { types, labels } = await exportsOf(row.app);
  const documented = rows.filter(({ process }) => row.processes.includes(process));
  expect([...types].sort()).toEqual(documented.map(({ name, type }) => [name, type]).sort());
  // Not every labelled metric has a series while the process is idle.
  const labelled = documented.filter(({ name }) => labels.has(name));
  expect(labelled.map(({ name }) => [name, labels.get(name)])).toEqual(
    labelled.map((each) => [each.name, each.labels]),
  );
});

it('outside of its tables, docs/metrics.md names only metrics that the tables contain', () => {
  const named = [...page.matchAll(/yardmaster_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|count)$/, ''));
  const documented = new Set(rows.map(({ name }) => name));
  expect(named.filter((name) => !documented.has(name))).toEqual([]);
});
