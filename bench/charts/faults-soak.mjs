// What docs/reliability.md shows of an installation that has lived through many faults. The results are of this form:
//   { machine, minutes, faults: { name: times }, rows: [[what, value], …] }
// where the machine is that of bench/machine.mjs, and a value is a number or a text.
import { conditions } from './conditions.mjs';
import { figure, whole } from './figures.mjs';
import { figures, markdownTable, text } from './markdown-table.mjs';

/** Counts are whole; what is measured has the digits that it is worth; a text stays as it is. */
function written(value) {
  if (typeof value !== 'number') return value;
  return Number.isInteger(value) ? whole(value) : figure(value);
}

/** How many there were, and how often each kind came. */
function ofFaults(times) {
  const [least, most] = [Math.min(...times), Math.max(...times)];
  return [
    ['faults', times.reduce((sum, each) => sum + each, 0)],
    [`of ${times.length} kinds, each`, least === most ? `${least} times` : `${least} to ${most} times`],
  ];
}

/** How often each fault came, and what was counted. */
const counts = ({ machine, minutes, faults, rows }) =>
  markdownTable(
    [['machine', conditions({ machine })], ['minutes', minutes], ...ofFaults(Object.values(faults)), ...rows],
    [text('', ([what]) => what), figures('', ([, value]) => written(value))],
  );

export const faultsSoak = {
  tables: { 'faults-soak': counts },
  charts: {},
  figures: {},
  /** What stands in place of the table until there was a soak. */
  absent: 'Not run yet.',
};
