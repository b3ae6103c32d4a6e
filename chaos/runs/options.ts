/** Options from the environment; see README.md. */
export interface Options {
  seed: number;
  rate: number; // Jobs created per second.
  isShort: boolean; // Whether to make only the runs of SHORT.
  only: readonly string[]; // Only these runs: `F1`, `F4-8s`, `mutants` or the name of a mutant; empty: all.
  repeat: number; // How often to run each, each time with the next seed.
  workers: number; // Runs in parallel.
}

/**
 * The short run of CI: faults of the API, the scheduler, Redis and the network, an older release, and a mutant, so that a
 * checker which reports nothing is noticed.
 */
export const SHORT: readonly string[] = [
  ...['F1', 'F2-after-sweep', 'F4-1.5s', 'F12-scheduler-cut', 'F30-older'],
  '01-complete-without-guard',
];

const numberOf = (text: string | undefined, byDefault: number) => (text ? Number(text) : byDefault);

export function optionsOf(env: NodeJS.ProcessEnv): Options {
  const isShort = env.FAULT_SHORT === 'true' || env.TEST_SHORT === 'true';
  return {
    seed: numberOf(env.FAULT_SEED, 1 + Math.floor(Math.random() * 999_999)),
    rate: numberOf(env.FAULT_RATE, isShort ? 25 : 40),
    isShort,
    only: (env.FAULT_ONLY ?? '').split(',').filter((id) => id !== ''),
    repeat: numberOf(env.FAULT_REPEAT, 1),
    workers: numberOf(env.FAULT_WORKERS, 2),
  };
}
