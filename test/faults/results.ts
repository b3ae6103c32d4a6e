import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { PromiseId } from './rules/rule.js';
import type { Summary } from './summary.js';

/** Begun by global-setup.mjs with what the machine is; the tables of docs/reliability.md are made of it. */
const FILE = fileURLToPath(new URL('../../.cache/faults/results.json', import.meta.url));

/** What came of the run of a mutant. */
export interface SeenMutant {
  /** What is wrong with it. */
  title: string;
  /** Promises that it breaks. */
  breaks: readonly PromiseId[];
  /** Promises that were said to be broken. */
  seen: readonly PromiseId[];
}

/** A run that came to no end: nobody knows what it would have shown. */
export interface Unfinished {
  name: string;
  seed: number;
  /** What went wrong. */
  says: string;
}

interface Results {
  /** Of the faults that there are, run or not. */
  faults: readonly string[];
  /** Of the runs. */
  seeds: readonly number[];
  runs: readonly Summary[];
  /** Left out by results of before they were told. */
  unfinished?: readonly Unfinished[];
  /** Of the mutants that there are, run or not. */
  titles: readonly string[];
  mutants: readonly SeenMutant[];
}

/** Tell which faults there are. */
export const addFaults = (faults: readonly string[]): void => change(() => ({ faults }));

/** Tell which mutants there are. */
export const addTitles = (titles: readonly string[]): void => change(() => ({ titles }));

type Named = Pick<Summary, 'name' | 'seed'>;

const isSame = (one: Named, other: Named) => one.name === other.name && one.seed === other.seed;

const without = <T extends Named>(all: readonly T[], run: Named) => all.filter((one) => !isSame(one, run));

/** What a run has found stays until the file is begun anew. */
const withoutWell = (runs: readonly Summary[], run: Named) =>
  runs.filter((one) => !isSame(one, run) || one.violations.length > 0);

type Runs = Pick<Results, 'runs' | 'unfinished'>;

/** Add a run, in place of one of the same fault and seed that has found nothing. */
export const addRun = (run: Summary): void => change((results) => withRun(results, run));

/** Add a run that came to no end, in place of one of the same fault and seed: it must not look as if it had never been. */
export const addUnfinished = (run: Unfinished): void => change((results) => withUnfinished(results, run));

/** What becomes of the results with `addRun`. */
export function withRun({ runs, unfinished = [] }: Runs, run: Summary) {
  const all = [...withoutWell(runs, run), run];
  return {
    seeds: [...new Set(all.map(({ seed }) => seed))].sort((a, b) => a - b),
    runs: all,
    unfinished: without(unfinished, run),
  };
}

/** The same with `addUnfinished`. */
export const withUnfinished = ({ runs, unfinished = [] }: Runs, run: Unfinished) => ({
  runs: withoutWell(runs, run),
  unfinished: [...without(unfinished, run), run],
});

/** Add a mutant, in place of itself. */
export const addMutant = (mutant: SeenMutant): void =>
  change(({ mutants }) => ({ mutants: [...mutants.filter(({ title }) => title !== mutant.title), mutant] }));

/** Written after each run and not in the end, so that a suite that is broken off leaves what it has found. */
function change(make: (results: Results) => Partial<Results>): void {
  const results: Results = JSON.parse(readFileSync(FILE, 'utf8'));
  writeFileSync(FILE, `${JSON.stringify({ ...results, ...make(results) }, null, 2)}\n`);
}
