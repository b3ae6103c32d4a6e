// Tables of `npm run bench:schedule` for docs/performance.
import { figure, figures, markdownTable, text, whole } from '../report/tables.mjs';

const millis = (value) => figure(value, 0);

/** Create the table of how late jobs became claimable and timeouts were handled. */
const lateness = ({ times = [] }) =>
  markdownTable(times, [
    text('lateness, ms', ({ what }) => what),
    figures('jobs', ({ jobs }) => whole(jobs)),
    figures('min', ({ least }) => millis(least)),
    figures('p50', ({ p50 }) => millis(p50)),
    figures('p99', ({ p99 }) => millis(p99)),
    figures('max', ({ most }) => millis(most)),
    figures('lost', ({ lost }) => whole(lost)),
    figures('twice', ({ twice }) => whole(twice)),
  ]);

/** Create the table of the cost of the burst. */
const burst = ({ runs = [] }) =>
  markdownTable(runs, [
    figures('jobs', ({ jobs }) => whole(jobs)),
    figures('promoted per second', ({ perSecond }) => whole(Math.round(perSecond))),
    figures('Redis CPU, µs per job', ({ redisMicros }) => figure(redisMicros, 1)),
    figures('scheduler CPU, µs per job', ({ schedulerMicros }) => figure(schedulerMicros, 1)),
    figures('scripts', ({ scripts }) => whole(scripts)),
    figures('scripts above 5 ms', ({ slowScripts }) => whole(slowScripts)),
  ]);

export const tables = { 'schedule-lateness': lateness, 'schedule-burst': burst };
