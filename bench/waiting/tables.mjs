// Tables of `npm run bench:waiting`.
import { figure, figures, markdownTable, text, whole } from '../report/tables.mjs';

/** Labels of the times, by their names in the results. */
const TIMED = {
  info: 'response to `GET /api/v1/info`',
  create: 'response to create',
  job: 'a waiting worker has the job',
};

const millis = (value) => figure(value, 1);

const waiting = ({ latency = [] }) =>
  markdownTable(latency, [
    text('ms', ({ what }) => TIMED[what]),
    ...['p50', 'p90', 'p99', 'p999'].map((field) => figures(field.replace('999', '99.9'), (row) => millis(row[field]))),
  ]);

const idle = ({ idle = [] }) =>
  markdownTable(idle, [
    figures('waiting workers', ({ waiters }) => whole(waiters)),
    figures('of a core, API', ({ apiPercent }) => `${figure(apiPercent)} %`),
    figures('of a core, Redis', ({ redisPercent }) => `${figure(redisPercent)} %`),
  ]);

const polls = ({ polls = [] }) =>
  markdownTable(polls, [
    figures('processes', ({ processes }) => whole(processes)),
    figures('jobs/s', ({ rate }) => whole(rate)),
    figures('polls per job', ({ perJob }) => figure(perJob, 2)),
  ]);

export const tables = { waiting, 'waiting-idle': idle, 'waiting-polls': polls };
