import { describe, expect, it } from '@jest/globals';
import { Counter, Histogram, Registry } from 'prom-client';
import { Durations, type Series } from '../../packages/backend/src/metrics/durations.js';
import { tallies } from '../../packages/backend/src/metrics/tallies.js';

const linesOf = async (registry: Registry) => (await registry.metrics()).split('\n').sort();

/** What stands for itself in the text of a scrape only when it is escaped, and what does not need to be. */
const STRANGE = ['', 'plain', 'a "b" \\ c', 'two\nlines', 'äöü 漢 €', '{x="y"} 1 #', '\\n', '1e3'];

describe('Durations', () => {
  const BUCKETS = [0.001, 0.0025, 0.1, 1, 2];
  const observed: [method: string, route: string, seconds: number][] = [
    ...BUCKETS.map((bound): [string, string, number] => ['GET', '/bounds', bound]),
    ...BUCKETS.map((bound): [string, string, number] => ['POST', '/bounds', bound + Number.EPSILON * 4]),
    ['GET', '/below', 0],
    ['GET', '/below', 1e-9],
    ['GET', '/above', 2.000_001],
    ['GET', '/above', 1e6],
    ...Array.from({ length: 500 }, (_, n): [string, string, number] => ['GET', '/many', (n * 7919) / 100_003]),
    ...STRANGE.map((label): [string, string, number] => [label, `of ${label}`, 0.05]),
  ];

  function both(labelNames: ('method' | 'route')[]) {
    const [ours, theirs] = [new Registry(), new Registry()];
    const options = { name: 'took_seconds', help: 'How long "it" took \\ in all.\nEach time.', labelNames };
    const durations = new Durations({ ...options, buckets: BUCKETS, registry: ours });
    const histogram = new Histogram({ ...options, buckets: BUCKETS, registers: [theirs] });
    return { ours, theirs, durations, histogram };
  }

  it('are scraped as a histogram of prom-client is, line for line', async () => {
    const { ours, theirs, durations, histogram } = both(['method', 'route']);
    const series = new Map<string, Series>();
    for (const [method, route, seconds] of observed) {
      const key = `${method} ${route}`;
      series.set(key, series.get(key) ?? durations.series([method, route]));
      series.get(key)?.observe(seconds);
      histogram.observe({ method, route }, seconds);
    }
    const lines = await linesOf(ours);
    expect(lines).toEqual(await linesOf(theirs));
    expect(lines).toContain('took_seconds_bucket{le="0.1",method="GET",route="/bounds"} 3');
    expect(lines).toContain('took_seconds_bucket{le="+Inf",method="GET",route="/above"} 2');
  });

  it('are scraped like it before anything was observed, and again after more was', async () => {
    const { ours, theirs, durations, histogram } = both(['method', 'route']);
    expect(await linesOf(ours)).toEqual(await linesOf(theirs));
    const series = durations.series(['GET', '/again']);
    for (const seconds of [0.05, 3]) {
      series.observe(seconds);
      histogram.observe({ method: 'GET', route: '/again' }, seconds);
      expect(await linesOf(ours)).toEqual(await linesOf(theirs));
    }
  });
});

describe('tallies', () => {
  function both() {
    const [ours, theirs] = [new Registry(), new Registry()];
    const options = { name: 'moved_total', help: 'Jobs "moved".\nIn all.', labelNames: ['from', 'to'] as const };
    const make = tallies<'from' | 'to'>({ ...options, registers: [ours] });
    return { ours, theirs, make, counter: new Counter({ ...options, registers: [theirs] }) };
  }

  it('are scraped as a counter of prom-client is, line for line, at each scrape', async () => {
    const { ours, theirs, make, counter } = both();
    expect(await linesOf(ours)).toEqual(await linesOf(theirs));
    const series = STRANGE.map((from) => ({ tally: make({ from, to: 'there' }), labels: { from, to: 'there' } }));
    for (const { labels } of series) counter.inc(labels, 0);
    for (let round = 0; round < 3; round++) {
      expect(await linesOf(ours)).toEqual(await linesOf(theirs));
      for (const [n, { tally, labels }] of series.entries()) {
        tally.count += n * 1_000_003;
        counter.inc(labels, n * 1_000_003);
      }
    }
  });

  it('lose nothing that is counted while they are scraped', async () => {
    const { ours, make } = both();
    const tally = make({ from: 'a', to: 'b' });
    const scrapes = Array.from({ length: 20 }, () => {
      tally.count++;
      return ours.metrics();
    });
    for (const text of await Promise.all(scrapes)) expect(text).toMatch(/^moved_total\{from="a",to="b"\} \d+$/m);
    expect(await ours.metrics()).toContain('moved_total{from="a",to="b"} 20\n');
  });
});
