import type { Metric, MetricValueWithName, Registry } from 'prom-client';
import { Counter, type CounterConfiguration } from 'prom-client';

export interface FastHistogramOptions<L extends string> {
  name: string;
  help: string;
  labelNames: readonly L[];
  /** Upper bounds in seconds, ascending. */
  buckets: readonly number[];
  registry: Registry;
}

/** One series of a histogram. */
export class Series {
  readonly labelValues: readonly string[];
  /** How many observations were within each bucket and not within the one before; the last counts those above all. */
  readonly counts: number[];
  seconds = 0;
  readonly #buckets: readonly number[];

  constructor(labelValues: readonly string[], buckets: readonly number[]) {
    this.labelValues = labelValues;
    this.counts = new Array(buckets.length + 1).fill(0);
    this.#buckets = buckets;
  }

  observe(seconds: number): void {
    let at = 0;
    while (at < this.#buckets.length && seconds > (this.#buckets[at] as number)) at++;
    (this.counts[at] as number)++;
    this.seconds += seconds;
  }
}

/**
 * A histogram that costs a call 0.1 µs. prom-client's costs 1 µs, because it makes a text of the sorted labels at each
 * observation. With the counter below, this saves 9% of a call's CPU (docs/upstream.md). A registry of
 * prom-client contains it like any other metric, and a scrape sees no difference.
 */
export class FastHistogram<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly #labelNames: readonly L[];
  readonly #buckets: readonly number[];
  readonly #series: Series[] = [];

  constructor({ name, help, labelNames, buckets, registry }: FastHistogramOptions<L>) {
    this.name = name;
    this.help = help;
    this.#labelNames = labelNames;
    this.#buckets = buckets;
    registry.registerMetric(this as unknown as Metric); // The registry uses only `name` and `get`.
  }

  /**
   * Make a series. The observing code keeps it, and finds it in the way that suits it best.
   *
   * @param labelValues in the order of `labelNames`; never the same values twice
   */
  series(labelValues: readonly string[]): Series {
    const made = new Series(labelValues, this.#buckets);
    this.#series.push(made);
    return made;
  }

  /** Return the values for a scrape. */
  async get() {
    const { name, help, type, aggregator } = this;
    const values = this.#series.flatMap((series) => this.#valuesOf(series));
    return { name, help, type, aggregator, values };
  }

  #valuesOf({ labelValues, counts, seconds }: Series): MetricValueWithName<L | 'le'>[] {
    const labels = Object.fromEntries(this.#labelNames.map((label, i) => [label, labelValues[i]]));
    let total = 0;
    const buckets = counts.map((count, i) => {
      total += count;
      return { metricName: `${this.name}_bucket`, labels: { le: this.#buckets[i] ?? '+Inf', ...labels }, value: total };
    });
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: seconds },
      { metricName: `${this.name}_count`, labels, value: total },
    ] as MetricValueWithName<L | 'le'>[];
  }
}

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
