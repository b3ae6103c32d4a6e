import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';
import type { HttpClient } from '../support/http.js';
import { until } from '../support/until.js';

/** All series of a scrape, as `name{label="value"}`, each with its value. */
export type Scrape = Map<string, number>;

/** Scrape a process. */
export async function scrape({ http }: { http: HttpClient }): Promise<Scrape> {
  const { status, text } = await http.call('GET', '/metrics');
  if (status !== 200) throw new Error(`scrape: ${status} ${text}`);
  return readText(text);
}

/** Read the text format of Prometheus. */
export function readText(text: string): Scrape {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

/**
 * Return by how much the given series, or all series of the given metrics, have changed. Series that have not changed
 * are left out, and so are sums and buckets, because those depend on time.
 */
export function movedSince(before: Scrape, after: Scrape, ...metrics: string[]): Record<string, number> {
  const moved: Record<string, number> = {};
  for (const [series, value] of after) {
    const name = series.replace(/\{.*/s, '');
    const by = value - (before.get(series) ?? 0);
    if (by !== 0 && metrics.some((metric) => [metric, `${metric}_count`].includes(name) || series === metric))
      moved[series] = by;
  }
  return moved;
}

/** Call a function, and return by how much it changes the given metrics. */
export async function movedBy(
  service: { http: HttpClient },
  metrics: string | string[],
  act: () => Promise<unknown>,
): Promise<Record<string, number>> {
  const before = await scrape(service);
  await act();
  return movedSince(before, await scrape(service), ...[metrics].flat());
}

/**
 * Call a function, and wait until the given metrics have changed as expected. A scheduler counts only after Redis'
 * reply, when other clients may have seen the result of its work already.
 */
export async function expectMoved(
  service: { http: HttpClient },
  metrics: string | string[],
  act: () => Promise<unknown>,
  expected: Record<string, number>,
): Promise<void> {
  const before = await scrape(service);
  await act();
  let moved = {};
  await until(async () => {
    moved = movedSince(before, await scrape(service), ...[metrics].flat());
    return isDeepStrictEqual(moved, expected);
  }).catch(() => expect(moved).toEqual(expected));
}

/** Return the values of one metric by the value of its only label. */
export function byLabel(scraped: Scrape, metric: string): Record<string, number> {
  const values: Record<string, number> = {};
  for (const [series, value] of scraped) {
    const label = series.startsWith(`${metric}{`) ? /="(.*)"\}$/.exec(series)?.[1] : undefined;
    if (label !== undefined) values[label] = value;
  }
  return values;
}
