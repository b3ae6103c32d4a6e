// Tables of `npm run bench:latency` for docs/performance.
import { figure, figures, markdownTable, text, whole } from '../report/tables.mjs';

/** Labels of times, by their names in the results. */
const TIMED = {
  create: 'response to create',
  emptyPoll: 'response to an empty poll',
  poll: 'response to a poll that returns jobs',
  ack: 'response to ack',
  progress: 'response to progress',
  complete: 'response to complete',
  watched: 'progress reaches the client of a stream',
  delivered: 'a polling worker has the job',
  late: 'included above: delay of the load generator',
};

const rateOf = ({ rate }) => `${whole(rate)} jobs/s`;
const millis = (value) => figure(value, value < 10 ? 1 : 0);

function latency({ runs = [], times = [] }) {
  const timeOf = (what, { rate }) => times.find((row) => row.what === what && row.rate === rate);
  const rows = Object.keys(TIMED).filter((what) => runs.every((run) => timeOf(what, run)));
  const cell = ({ p50, p99, p999 }) => [p50, p99, p999].map(millis).join(' / ');
  return markdownTable(rows, [
    text('ms, p50 / p99 / p99.9', (what) => TIMED[what]),
    ...runs.map((run) => figures(rateOf(run), (what) => cell(timeOf(what, run)))),
  ]);
}

const cores = ({ runs = [] }) =>
  markdownTable(runs, [
    text('cores used', rateOf),
    ...Object.keys(runs[0]?.cores ?? {}).map((name) => figures(name, (run) => figure(run.cores[name], 2))),
    figures('failed calls', ({ failed }) => whole(failed)),
    figures('unfinished jobs', ({ notDone }) => whole(notDone)),
    figures('missing messages', ({ messagesMissing }) => whole(messagesMissing)),
  ]);

export const tables = { latency, 'latency-cores': cores };
