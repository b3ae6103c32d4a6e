import { Counter, type CounterConfiguration } from 'prom-client';

/** One series of a counter. */
export interface Tally {
  count: number;
}

/**
 * Create a counter whose series are found once, by their labels, and from then on cost one addition; prom-client gets
 * the sums at each scrape. Its own `inc` makes a text of the sorted labels each time, which is 0.7 µs of a call.
 *
 * @returns a function that makes a series, at 0
 */
export function createFastCounter<L extends string>(
  options: CounterConfiguration<L>,
): (labels: Record<L, string>) => Tally {
  const all: { labels: Record<L, string>; tally: Tally }[] = [];
  new Counter<L>({
    ...options,
    collect() {
      this.reset();
      for (const { labels, tally } of all) this.inc(labels, tally.count);
    },
  });
  return (labels) => {
    const tally = { count: 0 };
    all.push({ labels, tally });
    return tally;
  };
}
