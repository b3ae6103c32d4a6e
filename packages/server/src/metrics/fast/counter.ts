import { Counter, type CounterConfiguration } from 'prom-client';

/** One series of a counter. */
export interface CounterSeries {
  count: number;
}

/**
 * Create a counter whose observing code keeps each series, so that counting costs one addition; prom-client gets the
 * sums at each scrape. Its own `inc` makes a text of the sorted labels each time, which takes 0.7 µs of a call.
 *
 * @returns a function that makes a series, at 0
 */
export function createFastCounter<L extends string>(
  options: CounterConfiguration<L>,
): (labels: Record<L, string>) => CounterSeries {
  const all: { labels: Record<L, string>; series: CounterSeries }[] = [];
  new Counter<L>({
    ...options,
    collect() {
      this.reset();
      for (const { labels, series } of all) this.inc(labels, series.count);
    },
  });
  return (labels) => {
    const series = { count: 0 };
    all.push({ labels, series });
    return series;
  };
}
