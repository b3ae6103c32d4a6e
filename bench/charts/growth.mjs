// What docs/performance.md shows of `npm run bench:growth`: how the cost of a call grows with what is there.
import { COLORS } from './card.mjs';
import { conditions } from './conditions.mjs';
import { figure, ratio, spread, whole } from './figures.mjs';
import { lines } from './lines.mjs';
import { figures, markdownTable, text } from './markdown-table.mjs';

const STEPS = { create: COLORS.blue, poll: COLORS.orange, ack: COLORS.green, complete: COLORS.purple };

/** Median and quartiles that a row has of a kind of cost. */
const costOf = (row, kind) => ({
  median: row[`${kind}Micros`],
  low: row[`${kind}MicrosLow`],
  high: row[`${kind}MicrosHigh`],
});

/** One row for each size, with the costs of its steps beside each other. */
function byStep(rows, columns) {
  const sizes = rows.filter(({ step }) => step === 'all');
  const stepOf = (size, step) =>
    rows.find((row) => row.step === step && columns.every(({ of }) => row[of] === size[of]));
  return markdownTable(sizes, [
    ...columns.map(({ label, of }) => figures(label, (size) => whole(size[of]))),
    ...Object.keys(STEPS).map((step) => figures(`${step}, µs`, (size) => figure(stepOf(size, step).redisMicros))),
    figures('all four, µs', (size) => spread(costOf(size, 'redis'))),
    figures('', ({ redisTimesFirst }) => ratio(redisTimesFirst, 2)),
  ]);
}

const pending = (results) =>
  byStep(results.pending, [
    { label: 'jobs that wait in the space', of: 'pending' },
    { label: 'in all of Redis', of: 'jobsInRedis' },
  ]);

const spaces = (results) =>
  byStep(results.spaces, [
    { label: 'spaces', of: 'spaces' },
    { label: 'jobs that wait in each', of: 'pendingOfEach' },
  ]);

const names = (results) =>
  byStep(results.names, [
    { label: 'names', of: 'names' },
    { label: 'jobs that wait of each', of: 'pendingOfEach' },
  ]);

const COSTS = [
  figures("Redis' CPU, µs", (row) => spread(costOf(row, 'redis'))),
  figures('in the script, µs', (row) => figure(row.scriptMicros)),
  figures('', ({ redisTimesFirst }) => ratio(redisTimesFirst, 2)),
];

const list = (results) =>
  markdownTable(results.list, [
    text('status', ({ status }) => status),
    figures('page of', ({ limit }) => whole(limit)),
    figures('from', ({ offset }) => whole(offset)),
    ...COSTS,
  ]);

const filter = (results) =>
  markdownTable(results.filter, [
    figures('names asked for', (row) => (row.names === 0 ? 'any' : whole(row.names))),
    figures('jobs asked for', ({ wanted }) => whole(wanted)),
    text('found', ({ haveJobs }) => (haveJobs ? 'all' : 'none')),
    ...COSTS,
  ]);

/** Median and quartiles of a field of a row. */
const ofField = (field) => (row) => spread({ median: row[field], low: row[`${field}Low`], high: row[`${field}High`] });

const apis = (results) =>
  markdownTable(results.apis, [
    figures('API processes', (row) => whole(row.apis)),
    figures('API, µs per job', ofField('apiMicros')),
    figures('', ({ apiMicrosTimesFirst }) => ratio(apiMicrosTimesFirst, 2)),
    figures('Redis, µs per job', ofField('redisMicros')),
    figures('', ({ redisMicrosTimesFirst }) => ratio(redisMicrosTimesFirst, 2)),
    figures('cores busy', ({ coresUsed, cores }) => `${figure(coresUsed, 1)} of ${cores}`),
    figures('jobs/s', ({ jobsPerSecond }) => figure(jobsPerSecond)),
  ]);

const pointOf = (row, x) => ({ x, y: row.redisMicros, low: row.redisMicrosLow, high: row.redisMicrosHigh });

function growthJobs(results) {
  // The spaces that share one Redis: what differs between them is their own size.
  const most = Math.max(...results.pending.map(({ jobsInRedis }) => jobsInRedis));
  const rows = results.pending.filter(({ jobsInRedis }) => jobsInRedis === most);
  const all = rows.filter(({ step }) => step === 'all');
  const [first, last] = [all[0], all.at(-1)];
  return lines({
    title: `${whole(last.pending / first.pending)} times the jobs waiting: ${ratio(last.redisMicros / first.redisMicros, 2)} of Redis' CPU per job`,
    subtitle: `spaces of one Redis that hold few and many pending jobs; medians and quartiles of ${results.options.rounds} rounds`,
    x: { label: 'jobs that wait in the space', type: 'log', ticks: all.map((row) => row.pending) },
    y: { label: "µs of Redis' CPU per call", type: 'linear' },
    series: Object.entries(STEPS).map(([step, color]) => ({
      name: step,
      color,
      points: rows.filter((row) => row.step === step).map((row) => pointOf(row, row.pending)),
    })),
  });
}

function growthSpread(results) {
  const seriesOf = (name, color) => ({
    name,
    color,
    points: results[name].filter(({ step }) => step === 'all').map((row) => pointOf(row, row[name])),
  });
  const series = [seriesOf('spaces', COLORS.blue), seriesOf('names', COLORS.orange)];
  const [ofSpaces, ofNames] = series.map(({ points }) => ratio(points.at(-1).y / points[0].y, 2));
  const [mostSpaces, mostNames] = series.map(({ points }) => whole(points.at(-1).x));
  return lines({
    title: `A job costs Redis ${ofSpaces} as much in ${mostSpaces} spaces, ${ofNames} among ${mostNames} names`,
    subtitle: `create, poll, ack, complete, with as many jobs waiting each time; medians and quartiles of ${results.options.rounds} rounds`,
    x: { label: 'spaces, or names in one space', type: 'log', ticks: [1, 10, 100, 1_000, 10_000] },
    y: { label: "µs of Redis' CPU per job", type: 'linear' },
    series,
  });
}

export const growth = {
  tables: {
    'growth-jobs': pending,
    'growth-spaces': spaces,
    'growth-names': names,
    'growth-list': list,
    'growth-filter': filter,
    'growth-apis': apis,
  },
  charts: { 'growth-jobs': growthJobs, 'growth-spread': growthSpread },
  figures: {
    'growth-conditions': conditions,
    'growth-rounds': ({ options }) => whole(options.rounds),
    'growth-operations': ({ options }) => whole(options.operations),
  },
};
