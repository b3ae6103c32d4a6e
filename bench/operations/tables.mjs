// Tables of `npm run bench:operations`.
import { figure, figures, markdownTable, text, whole } from '../report/tables.mjs';

const times = ({ times = [] }) =>
  markdownTable(times, [
    text('p99, ms', ({ what }) => what),
    figures('without an operation', (row) => figure(row.without, 1)),
    figures('beside one', (row) => figure(row.with, 1)),
    figures('ratio', ({ ratio }) => figure(ratio, 2)),
  ]);

const alone = ({ alone = [] }) =>
  markdownTable(alone, [
    figures('jobs', ({ jobs }) => whole(jobs)),
    figures('jobs/s', ({ perSecond }) => whole(perSecond)),
    figures("Redis' CPU per job, µs", ({ redisMicros }) => figure(redisMicros, 1)),
    figures("scheduler's CPU per job, µs", ({ schedulerMicros }) => figure(schedulerMicros, 1)),
    figures('of a core, Redis', ({ redisShare }) => `${figure(100 * redisShare, 0)} %`),
  ]);

export const tables = { 'operations-others': times, 'operations-alone': alone };
