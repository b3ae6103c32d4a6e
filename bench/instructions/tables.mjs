// The table of `npm run bench:instructions` for docs/performance.md.
import { figures, markdownTable, text, whole } from '../report/tables.mjs';

const instructions = ({ instructions }) =>
  markdownTable(Object.entries(instructions), [
    text('call', ([call]) => call),
    figures('instructions', ([, count]) => whole(count)),
  ]);

export const file = 'bench/instructions/bounds.json';
export const tables = { instructions };
