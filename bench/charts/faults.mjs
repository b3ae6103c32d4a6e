// What docs/reliability.md shows of `npm run test:faults`: what was broken, what came of it, and whether it would be seen.
import { conditions } from './conditions.mjs';
import { byFault, duration, found, most, runsOf, sum } from './fault-runs.mjs';
import { whole } from './figures.mjs';
import { figures, markdownTable, text } from './markdown-table.mjs';
import { NAMES, promises } from './promises.mjs';

const COLUMNS = [
  figures('runs', (runs) => whole(runs.length)),
  figures('calls', (runs) => whole(sum(runs, ({ operations }) => operations))),
  figures('refused', (runs) => whole(sum(runs, ({ refused }) => refused))),
  figures('unknown', (runs) => whole(sum(runs, ({ unknown }) => unknown))),
  figures('lost', (runs) => whole(sum(runs, ({ lost }) => lost))),
  figures('duplicated', (runs) => whole(sum(runs, ({ duplicated }) => duplicated))),
  figures('late', (runs) => whole(found(runs, { damage: 'late' }))),
  figures('latest', (runs) => duration(most(runs, ({ worstLatenessMs }) => worstLatenessMs))),
  figures('promises broken', (runs) => whole(found(runs))),
  figures('`fsck`', (runs) => whole(found(runs, { rule: 'fsck' }))),
];

/** A row for each fault, and one for all of them. */
const faultsTable = ({ runs }) =>
  markdownTable(
    [...byFault(runs).map((some) => ({ name: some[0].name, title: some[0].title, some })), { name: 'all', some: runs }],
    [
      text('', ({ name }) => name),
      text('what is broken', ({ title = '' }) => title),
      ...COLUMNS.map(({ cell, ...column }) => ({ ...column, cell: ({ some }) => cell(some) })),
    ],
  );

/** Faults that may take what was answered: a power cut, and failovers to a replica that lags. */
const TAKING = ['F5', 'F7', 'F9'];

const taken = ({ runs }) =>
  markdownTable(byFault(runsOf(runs, TAKING)), [
    text('', ([{ name }]) => name),
    text('what is broken', ([{ title }]) => title),
    figures('runs', (some) => whole(some.length)),
    figures('jobs created', (some) => whole(sum(some, ({ counts }) => counts.created))),
    figures('of these gone', (some) => whole(sum(some, ({ counts }) => counts.createdGone))),
    figures('most in a run', (some) => whole(most(some, ({ counts }) => counts.createdGone))),
    figures('from the last', (some) => furthest(some)),
  ]);

/** How far back the cut goes that the fault has made; a failover does not tell. */
function furthest(runs) {
  const ms = most(runs, (run) => run.figures['ms lost']);
  return ms === 0 ? '' : duration(ms);
}

const namesOf = (ids) => ids.map((id) => NAMES[id] ?? id).join('; ');

const mutants = (results) =>
  markdownTable(results.mutants, [
    text('a copy in which', ({ title }) => title),
    text('breaks', ({ breaks }) => namesOf(breaks)),
    text('seen', (mutant) => (isSeen(mutant) ? 'yes' : 'no')),
  ]);

/** Each promise that it breaks was said to be broken. */
const isSeen = ({ breaks, seen }) => breaks.every((promise) => seen.includes(promise));

/** One that was not run, or came to no end, was not seen; results of long ago do not tell of how many there are. */
const mutantsSeen = ({ mutants: all, titles = all.map(({ title }) => title) }) =>
  `${whole(all.filter(isSeen).length)} of ${whole(titles.length)}`;

/** Whether the results are of all faults is for the reader to know. */
const extent = ({ runs, unfinished = [], faults, seeds, date }) =>
  `${whole(runs.length)} runs of ${whole(byFault(runs).length)} of the ${whole(faults.length)} faults, ` +
  `${seeds.length === 1 ? 'seed' : 'seeds'} ${seeds.join(', ')}, ` +
  `${[...new Set(runs.map(({ rate }) => rate))].join(' or ')} jobs a second, ${date}${unfinished.length > 0 ? `; ${whole(unfinished.length)} more came to no end` : ''}`;

export const faults = {
  tables: { faults: faultsTable, 'faults-taken': taken, mutants },
  charts: {},
  figures: {
    'faults-conditions': conditions,
    'faults-extent': extent,
    'mutants-seen': mutantsSeen,
    ...promises,
  },
};
