import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import type { Logger } from './logger.js';
import { every, type Service } from './service.js';
import { VARIABLES, type VariableName } from './variables.js';

/** Variables whose value may be in a file. The variable with the suffix `_FILE` then holds its path. */
const SECRETS = ['REDIS_URL', 'ADMIN_API_KEY', 'CALLBACK_SIGNING_SECRET'] as const;
type SecretName = (typeof SECRETS)[number];
type ValueOf<N extends SecretName> = z.output<(typeof VARIABLES)[N]['schema']>;

export const isSecret = (name: VariableName): name is SecretName => SECRETS.some((each) => each === name);

/** Read a secret from its file. @throws Error whose message starts with the name of the variable */
export function readSecret<N extends SecretName>(name: N, file: string): ValueOf<N> {
  try {
    return secretIn(name, readFileSync(file, 'utf8'));
  } catch (error) {
    throw faultOf(name, error);
  }
}

/** Validate the content of a secret's file. @throws Error that doesn't quote the content */
function secretIn<N extends SecretName>(name: N, text: string): ValueOf<N> {
  if (text.trim() === '') throw new Error('points to an empty file');
  const outcome = VARIABLES[name].schema.safeParse(text.trim());
  if (!outcome.success) throw new Error(`points to a file whose content ${outcome.error.issues[0]?.message}`);
  return outcome.data as ValueOf<N>;
}

/** Describe what is wrong with the file of a secret. An error with a code comes from the file system. */
function faultOf(name: SecretName, error: unknown): Error {
  const { message, code } = error as NodeJS.ErrnoException;
  return new Error(`${name}_FILE ${code === undefined ? '' : 'points to a file that cannot be read: '}${message}`);
}

export interface SecretWatchOptions<N extends SecretName> {
  name: N;
  /** Path of the file; undefined if the secret is not in a file, which disables the watch. */
  file: string | undefined;
  /** Initial value. */
  value: ValueOf<N> | undefined;
  /** Called with each new value. */
  onChange: (value: ValueOf<N>) => void;
  log: Logger;
  /** Time between two reads, milliseconds. */
  everyMs: number;
}

/**
 * Create a service that watches the file of a secret. While the file can't be read or its content is invalid, the previous
 * value stays in use.
 */
export function watchSecret<N extends SecretName>(options: SecretWatchOptions<N>): Service {
  const { name, file, onChange, log, everyMs } = options;
  const variable = `${name}_FILE`;
  let { value } = options;

  async function read(): Promise<void> {
    if (file === undefined) return;
    try {
      const found = secretIn(name, await readFile(file, 'utf8'));
      if (isDeepStrictEqual(found, value)) return;
      value = found;
      onChange(found);
      log.info({ variable }, 'secret changed');
    } catch (error) {
      log.warn({ reason: faultOf(name, error).message }, 'secret not read, keeping the previous one');
    }
  }

  return every({ name: variable, ms: everyMs, run: read });
}
