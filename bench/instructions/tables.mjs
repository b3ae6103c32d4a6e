// The table of `npm run bench:instructions` for docs/performance.
import { figure, figures, markdownTable, text, whole } from '../report/tables.mjs';

const instructions = ({ instructions }) =>
  markdownTable(Object.entries(instructions), [
    text('call', ([call]) => call),
    figures('instructions', ([, count]) => whole(count)),
  ]);

/** Calls shown in docs/performance.md, and the number of jobs per call. */
const SHOWN = {
  ...{ create: 1, 'poll 1 job': 1, 'poll an empty space': 1, ack: 1, keepalive: 1, progress: 1, complete: 1 },
  ...{ 'fail, pending again': 1, release: 1, 'append 10 logs': 1, get: 1, 'list 50 jobs': 50, 'create 50 jobs': 50 },
  ...{ 'complete 50 jobs': 50 },
};

const costs = ({ instructions }) =>
  markdownTable(
    Object.entries(SHOWN).map(([call, jobs]) => [call, instructions[call] / instructions.create, jobs]),
    [
      text('call', ([call]) => call),
      figures('cost, in creates', ([, cost]) => figure(cost)),
      figures('per job', ([, cost, jobs]) => (jobs > 1 ? figure(cost / jobs) : '')),
    ],
  );

export const file = 'bench/instructions/bounds.json';
export const tables = { costs, instructions };
