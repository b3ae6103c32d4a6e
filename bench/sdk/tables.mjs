// Tables of `npm run bench:sdk`.
import { figure, figures, markdownTable, ratio, spread, text } from '../report/tables.mjs';

const CONTESTANTS = {
  typescript: 'SDK for TypeScript',
  bullmq: 'BullMQ (Node.js)',
  go: 'SDK for Go',
  asynq: 'Asynq (Go)',
  python: 'SDK for Python',
};

/** Format the ratio to the worker in the same language that does not use an SDK. */
function toPeer(ratios, { load, who }) {
  const row = ratios.find((each) => each.load === load && each.one === who);
  if (row === undefined) return '';
  const [median, low, high] = row.ratio;
  return `${ratio(median)} (${figure(low)}–${figure(high)})`;
}

const tableOf =
  (name) =>
  ({ cpu = [], ratios = [] }) =>
    markdownTable(
      cpu.filter(({ load }) => load === name),
      [
        text('CPU per job', ({ who }) => CONTESTANTS[who]),
        figures('worker, µs', ({ worker }) => spread(worker)),
        figures('÷ same language', (row) => toPeer(ratios, row)),
        figures('jobs per claim', ({ jobsPerClaim }) => figure(jobsPerClaim, 1)),
        figures('service, µs', ({ api }) => spread(api)),
        figures('Redis, µs', ({ redis }) => spread(redis)),
        ...(name === 'filled' ? [figures('jobs/s', ({ perSecond }) => figure(perSecond))] : []),
      ],
    );

export const tables = { 'sdk-filled': tableOf('filled'), 'sdk-arriving': tableOf('arriving') };
