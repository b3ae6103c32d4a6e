import type { HttpClient } from '../support/http.js';
import { until } from '../support/until.js';

/** Every series of a scrape, as `name{label="value"}`, with its value. */
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

/** Series of these metrics that are not what they were, with by how much; sums and buckets, which tell of time, left out. */
export function movedSince(before: Scrape, after: Scrape, ...metrics: string[]): Record<string, number> {
  const moved: Record<string, number> = {};
  for (const [series, value] of after) {
    const name = series.replace(/\{.*/s, '');
    const by = value - (before.get(series) ?? 0);
    if (by !== 0 && metrics.some((metric) => name === metric || name === `${metric}_count`)) moved[series] = by;
  }
  return moved;
}

/** Run something, and tell by how much it moved these metrics. */
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
 * The same of something that a scheduler does: it counts once Redis has answered, when others may have seen already that it
 * was done. So all of these metrics are waited for.
 */
export function movedByScheduler(
  service: { http: HttpClient },
  metrics: string | string[],
  act: () => Promise<unknown>,
): Promise<Record<string, number>> {
  return movedBy(service, metrics, async () => {
    const before = await scrape(service);
    await act();
    const hasMoved = (metric: string, now: Scrape) => Object.keys(movedSince(before, now, metric)).length > 0;
    await until(async () => {
      const now = await scrape(service);
      return [metrics].flat().every((metric) => hasMoved(metric, now));
    });
  });
}

/** Values of one metric by the value of its only label. */
export function byLabel(scraped: Scrape, metric: string): Record<string, number> {
  const values: Record<string, number> = {};
  for (const [series, value] of scraped) {
    const label = series.startsWith(`${metric}{`) ? /="(.*)"\}$/.exec(series)?.[1] : undefined;
    if (label !== undefined) values[label] = value;
  }
  return values;
}
