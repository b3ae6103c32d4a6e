// Tables of `npm run bench:schedule` for docs/performance.
import { figure, figures, markdownTable, text, whole } from '../report/tables.mjs';

const millis = (value) => figure(value, 0);

/** How late jobs became claimable, and timeouts came. */
const lateness = ({ times = [] }) =>
  markdownTable(times, [
    text('late by, ms', ({ what }) => what),
    figures('jobs', ({ jobs }) => whole(jobs)),
    figures('least', ({ least }) => millis(least)),
    figures('p50', ({ p50 }) => millis(p50)),
    figures('p99', ({ p99 }) => millis(p99)),
    figures('most', ({ most }) => millis(most)),
    figures('lost', ({ lost }) => whole(lost)),
    figures('twice', ({ twice }) => whole(twice)),
  ]);

/** What the burst cost. */
const burst = ({ runs = [] }) =>
  markdownTable(runs, [
    figures('jobs', ({ jobs }) => whole(jobs)),
    figures('promoted per second', ({ perSecond }) => whole(Math.round(perSecond))),
    figures('Redis CPU, µs per job', ({ redisMicros }) => figure(redisMicros, 1)),
    figures('scheduler CPU, µs per job', ({ schedulerMicros }) => figure(schedulerMicros, 1)),
    figures('scripts', ({ scripts }) => whole(scripts)),
    figures('of them above 5 ms', ({ slowScripts }) => whole(slowScripts)),
  ]);

export const tables = { 'schedule-lateness': lateness, 'schedule-burst': burst };
