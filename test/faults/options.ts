/** What to run, from the environment; see README.md. */
export interface Options {
  seed: number;
  /** Jobs created a second. */
  rate: number;
  /** Only those of short.ts. */
  isShort: boolean;
  /** Only these, e.g. `F1` or `F4-8s`; empty: all. */
  only: readonly string[];
  /** Each fault so often, each time with the next seed. */
  repeat: number;
}

const numberOf = (text: string | undefined, byDefault: number) => (text ? Number(text) : byDefault);

export function optionsOf(env: NodeJS.ProcessEnv): Options {
  return {
    seed: numberOf(env.FAULT_SEED, 1 + Math.floor(Math.random() * 999_999)),
    rate: numberOf(env.FAULT_RATE, 40),
    isShort: env.FAULT_SHORT === 'true',
    only: (env.FAULT_ONLY ?? '').split(',').filter((id) => id !== ''),
    repeat: numberOf(env.FAULT_REPEAT, 1),
  };
}
