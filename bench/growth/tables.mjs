// Tables and charts of `npm run bench:growth` for docs/performance.md.
import { COLORS, lines } from '../report/charts.mjs';
import { figure, figures, markdownTable, ratio, spread, text, whole } from '../report/tables.mjs';

const STEPS = { create: COLORS.blue, poll: COLORS.orange, ack: COLORS.green, complete: COLORS.purple };

/** A table with a row for each size, and the costs of the steps beside each other. @param labels by field */
const byStep = (name, labels) => (results) =>
  markdownTable(results[name], [
    ...Object.entries(labels).map(([field, label]) => figures(label, (row) => whole(row[field]))),
    ...Object.keys(STEPS).map((step) => figures(`${step}, µs`, (row) => figure(row[step]))),
    figures('all four, µs', ({ redis }) => spread(redis)),
    figures('', ({ timesFirst }) => ratio(timesFirst, 2)),
  ]);

const COSTS = [
  figures("Redis' CPU, µs", ({ redis }) => spread(redis)),
  figures('in the script, µs', ({ inScripts }) => figure(inScripts)),
  figures('', ({ timesFirst }) => ratio(timesFirst, 2)),
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
    figures('names asked for', ({ names }) => (names === 0 ? 'any' : whole(names))),
    figures('jobs asked for', ({ wanted }) => whole(wanted)),
    text('found', ({ found }) => found),
    ...COSTS,
  ]);

const apis = (results) =>
  markdownTable(results.apis, [
    figures('API processes', (row) => whole(row.apis)),
    figures('API, µs per job', ({ api }) => spread(api)),
    figures('', ({ apiTimes }) => ratio(apiTimes, 2)),
    figures('Redis, µs per job', ({ redis }) => spread(redis)),
    figures('', ({ redisTimes }) => ratio(redisTimes, 2)),
    figures('cores busy', ({ cores }) => `${figure(cores, 1)} of ${results.machine.cores}`),
    figures('jobs/s', ({ perSecond }) => figure(perSecond)),
  ]);

function growthJobs({ pending, options }) {
  // Only spaces of one Redis, so that only their own size differs.
  const most = Math.max(...pending.map(({ inRedis }) => inRedis));
  const rows = pending.filter(({ inRedis }) => inRedis === most);
  return lines({
    title: "Redis' CPU per call, by the jobs that wait in the space",
    subtitle: `spaces of one Redis with few and many pending jobs; medians of ${options.rounds} rounds`,
    x: { label: 'jobs that wait in the space', type: 'log', ticks: rows.map((row) => row.pending) },
    y: { label: "µs of Redis' CPU per call", type: 'linear' },
    series: Object.entries(STEPS).map(([name, color]) => ({
      name,
      color,
      points: rows.map((row) => ({ x: row.pending, y: row[name] })),
    })),
  });
}

export const tables = {
  'growth-jobs': byStep('pending', { pending: 'jobs that wait in the space', inRedis: 'in all of Redis' }),
  'growth-spaces': byStep('spaces', { spaces: 'spaces', pendingOfEach: 'jobs that wait in each' }),
  'growth-names': byStep('names', { names: 'names', pendingOfEach: 'jobs that wait of each' }),
  'growth-list': list,
  'growth-filter': filter,
  'growth-apis': apis,
};
export const charts = { 'growth-jobs': growthJobs };
