import { parseArgs } from 'node:util';

/** Command-line options; see README.md. */
export interface Options {
  seed: number;
  rate: number; // Jobs created per second.
  only: readonly string[]; // Runs to make: `F1`, `F4-8s`, `mutants` or the name of a mutant; empty for all.
  tenth: number | null; // Tenth of the faults and of the mutants, from 1 to 10; null for all.
  repeat: number; // How often to run each, with the next seed each time.
  workers: number; // Number of parallel runs.
}

export function optionsOf(args: string[]): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args,
    options: { seed: text, rate: text, only: text, tenth: text, repeat: text, workers: text },
  });
  const {
    seed = 1 + Math.floor(Math.random() * 999_999),
    rate = 40,
    only = '',
    tenth,
    repeat = 1,
    workers = 2,
  } = values;
  return {
    seed: Number(seed),
    rate: Number(rate),
    only: only.split(',').filter((id) => id !== ''),
    tenth: tenth === undefined ? null : Number(tenth),
    repeat: Number(repeat),
    workers: Number(workers),
  };
}
