// What docs/performance.md shows of `npm run bench:latency`: how long callers wait at given rates.
import { COLORS } from './card.mjs';
import { conditions } from './conditions.mjs';
import { figure, whole } from './figures.mjs';
import { lines } from './lines.mjs';
import { figures, markdownTable, text } from './markdown-table.mjs';

/** What is timed, by its name in the results. */
const TIMED = {
  'create → answer': 'create is answered',
  'empty poll → answer': 'empty poll is answered',
  'poll with jobs → answer': 'poll that brings jobs is answered',
  'ack → answer': 'ack is answered',
  'progress → answer': 'progress is answered',
  'complete → answer': 'complete is answered',
  'progress → socket': 'progress is at the client of a stream',
  'create → handed out': 'job is in the hands of a worker that polls',
  'load late': 'of these, the load itself was late by',
};

const PERCENTILES = { p50: 'p50Ms', p90: 'p90Ms', p99: 'p99Ms', 'p99.9': 'p999Ms' };

const rateOf = ({ wantedJobsPerSecond }) => `${whole(wantedJobsPerSecond)} jobs/s`;

const millis = (value) => figure(value, value < 10 ? 1 : 0);

function times({ rates }) {
  const rows = Object.keys(TIMED).filter((name) => rates.every((rate) => rate.times[name]));
  return markdownTable(rows, [
    text('ms, p50 / p99 / p99.9', (name) => TIMED[name]),
    ...rates.map((rate) =>
      figures(rateOf(rate), (name) =>
        ['p50', 'p99', 'p99.9'].map((p) => millis(rate.times[name][PERCENTILES[p]])).join(' / '),
      ),
    ),
  ]);
}

function cores({ rates }) {
  return markdownTable(rates, [
    text('cores used', rateOf),
    ...Object.keys(rates[0].cores).map((name) => figures(name, (rate) => figure(rate.cores[name], 2))),
    figures('calls failed', ({ failed }) => whole(failed)),
    figures('jobs not done', ({ notDone }) => whole(notDone)),
  ]);
}

const RATE_COLORS = [COLORS.blue, COLORS.purple, COLORS.orange, COLORS.green, COLORS.grey];

/** A chart of the percentiles of one of the times, a line for each rate. */
const percentiles = (name, titleOf) => (results) => {
  const { rates, options } = results;
  const busiest = rates.at(-1);
  return lines({
    title: titleOf(rateOf(busiest), `${millis(busiest.times[name].p99Ms)} ms`),
    subtitle: `from when it was due; ${options.seconds} s at each rate, which does not wait for answers; all on the one machine, the load included`,
    x: { label: 'percentile', type: 'point', domain: Object.keys(PERCENTILES) },
    y: { label: 'ms', type: 'log' },
    series: rates.map((rate, at) => ({
      name: rateOf(rate),
      color: RATE_COLORS[at % RATE_COLORS.length],
      points: Object.entries(PERCENTILES).map(([label, field]) => ({ x: label, y: rate.times[name][field] })),
    })),
  });
};

export const latency = {
  tables: { latency: times, 'latency-cores': cores },
  charts: {
    'latency-ack': percentiles('ack → answer', (rate, ms) => `At ${rate}, 99 of 100 acks are answered within ${ms}`),
    'latency-handed-out': percentiles(
      'create → handed out',
      (rate, ms) => `At ${rate}, 99 of 100 jobs are with a worker within ${ms}`,
    ),
  },
  figures: {
    'latency-conditions': conditions,
    'latency-poll-every': ({ options }) => `${figure(options.pollEveryMs)} ms`,
    'latency-watched': ({ options }) => whole(options.watchedJobs),
  },
};
