// Runs of the fault suite, added up. A fault has several where it was run with several seeds.
import { figure } from './figures.mjs';

export const sum = (runs, of) => runs.reduce((total, run) => total + (of(run) ?? 0), 0);

/** The greatest of what runs tell; 0 where none tells anything. */
export const most = (runs, of) => Math.max(0, ...runs.map((run) => of(run) ?? 0));

/** How many broken promises of a kind were found: those with these fields. */
export const found = (runs, fields = {}) =>
  sum(
    runs,
    ({ violations }) =>
      violations.filter((each) => Object.entries(fields).every(([field, value]) => each[field] === value)).length,
  );

const idOf = ({ name }) => name.split('-')[0];
const numberOf = (run) => Number(idOf(run).slice(1));

/** Runs of some faults, whatever their variant: `F4` are those of `F4-8s`, too. */
export const runsOf = (runs, ids) => runs.filter((run) => ids.includes(idOf(run)));

/** The runs of each fault, by the number of the fault and then in the order in which they were made. */
export function byFault(runs) {
  const sorted = runs.toSorted((a, b) => numberOf(a) - numberOf(b));
  return [...new Set(sorted.map(({ name }) => name))].map((name) => sorted.filter((run) => run.name === name));
}

/** `482 ms`, `1.8 s`. */
export const duration = (ms) => (ms < 1_000 ? `${figure(ms, 0)} ms` : `${figure(ms / 1_000, 1)} s`);
