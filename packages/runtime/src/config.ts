import { checkFilesOf } from '@yardmaster/redis';
import type { z } from 'zod';
import { VARIABLES, type VariableName } from './variables.js';

type ValueOf<N extends VariableName> = z.output<(typeof VARIABLES)[N]['schema']>;
type WithDefault<N extends VariableName> = (typeof VARIABLES)[N]['default'] extends string ? true : false;

/** Values of the named variables, each under its own name; undefined only where there is no default. */
export type Config<N extends VariableName> = {
  [K in N]: WithDefault<K> extends true ? ValueOf<K> : ValueOf<K> | undefined;
};

/** Invalid configuration, with which a process must not start. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  /** @param faults one sentence each, beginning with the name of the variable if there is one */
  constructor(readonly faults: readonly string[]) {
    super(`Configuration is not valid:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
  }
}

/**
 * Read variables from the environment. An empty value counts as unset; a name that is given twice is read once.
 *
 * @param names several parts of a process may read the same variable
 * @throws ConfigError with every fault, not only the first
 */
export function readConfig<N extends VariableName>(env: NodeJS.ProcessEnv, names: readonly N[]): Config<N> {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const name of new Set(names)) {
    const variable = VARIABLES[name];
    const text = env[name] || variable.default;
    if (text === null) continue;
    const outcome = variable.schema.safeParse(text);
    if (outcome.success) values[name] = outcome.data;
    else faults.push(`${name} ${outcome.error.issues[0]?.message}`);
  }
  // The schema checks only the text, because the chart checks addresses whose files are elsewhere.
  try {
    if (typeof values.REDIS_URL === 'string') checkFilesOf(values.REDIS_URL);
  } catch (error) {
    faults.push(`REDIS_URL ${(error as Error).message}`);
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return values as Config<N>;
}
