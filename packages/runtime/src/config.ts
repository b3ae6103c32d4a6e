import { checkFilesOf } from '@yardmaster/redis';
import type { z } from 'zod';
import { isSecret, readSecret } from './secret-files.js';
import { VARIABLES, type VariableName } from './variables.js';

type ValueOf<N extends VariableName> = z.output<(typeof VARIABLES)[N]['schema']>;
type WithDefault<N extends VariableName> = (typeof VARIABLES)[N]['default'] extends string ? true : false;

/** Values of the named variables, each under its own name; undefined only where there is no default. */
export type Config<N extends VariableName> = {
  [K in N]: WithDefault<K> extends true ? ValueOf<K> : ValueOf<K> | undefined;
};

/** Invalid configuration, which keeps a process from starting. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  /** @param faults one sentence each, starting with the name of the variable if there is one */
  constructor(readonly faults: readonly string[]) {
    super(`Invalid configuration:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
  }
}

/**
 * Read variables from the environment, and secrets from their files. An empty value counts as unset.
 *
 * @param names may contain duplicates, because several parts of a process may read the same variable
 * @throws ConfigError with all faults, not just the first
 */
export function readConfig<N extends VariableName>(env: NodeJS.ProcessEnv, names: readonly N[]): Config<N> {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const name of new Set(names)) {
    try {
      values[name] = readVariable(env, name);
    } catch (error) {
      faults.push((error as Error).message);
    }
  }
  // The schema checks only the text, because it also checks values of the chart, whose files are elsewhere.
  try {
    if (typeof values.REDIS_URL === 'string') checkFilesOf(values.REDIS_URL);
  } catch (error) {
    faults.push(`REDIS_URL ${(error as Error).message}`);
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return values as Config<N>;
}

/** Read a variable; undefined if it has no value. @throws Error whose message starts with the name of the variable */
function readVariable(env: NodeJS.ProcessEnv, name: VariableName): unknown {
  const file = isSecret(name) && env[`${name}_FILE`];
  if (file && env[name]) throw new Error(`${name} and ${name}_FILE must not both be set`);
  if (file) return readSecret(name, file);
  const { schema, default: byDefault } = VARIABLES[name];
  const text = env[name] || byDefault;
  if (text === null) return undefined;
  const outcome = schema.safeParse(text);
  if (!outcome.success) throw new Error(`${name} ${outcome.error.issues[0]?.message}`);
  return outcome.data;
}
