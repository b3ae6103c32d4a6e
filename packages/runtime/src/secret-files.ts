import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import type { Logger } from './logger.js';
import { every, type Service } from './service.js';
import { VARIABLES, type VariableName } from './variables.js';

/** Variables whose value may be in a file, whose path is then in the variable with `_FILE` after the name. */
const SECRETS = ['REDIS_URL', 'ADMIN_API_KEY', 'CALLBACK_SIGNING_SECRET'] as const;
type SecretName = (typeof SECRETS)[number];
type ValueOf<N extends SecretName> = z.output<(typeof VARIABLES)[N]['schema']>;

export const isSecret = (name: VariableName): name is SecretName => SECRETS.some((each) => each === name);

/** Read a secret from its file. @throws Error whose message begins with the name of the variable */
export function readSecret<N extends SecretName>(name: N, file: string): ValueOf<N> {
  try {
    return secretIn(name, readFileSync(file, 'utf8'));
  } catch (error) {
    throw faultOf(name, error);
  }
}

/** @throws Error that quotes nothing of the text */
function secretIn<N extends SecretName>(name: N, text: string): ValueOf<N> {
  if (text.trim() === '') throw new Error('names an empty file');
  const outcome = VARIABLES[name].schema.safeParse(text.trim());
  if (!outcome.success) throw new Error(`names a file whose content ${outcome.error.issues[0]?.message}`);
  return outcome.data as ValueOf<N>;
}

/** Say what is wrong with the file of a secret. An error with a code is of the system. */
function faultOf(name: SecretName, error: unknown): Error {
  const { message, code } = error as NodeJS.ErrnoException;
  return new Error(`${name}_FILE ${code === undefined ? '' : 'names a file that cannot be read: '}${message}`);
}

export interface SecretWatchOptions<N extends SecretName> {
  name: N;
  /** Undefined when the secret is in no file: then nothing is read. */
  file: string | undefined;
  /** The value at the start. */
  value: ValueOf<N> | undefined;
  /** Gets each other value. */
  onChange: (value: ValueOf<N>) => void;
  log: Logger;
  /** Milliseconds between two reads. */
  everyMs: number;
}

/**
 * Read the file of a secret again and again. While it cannot be read, or its content is not valid, the value before stays in
 * use.
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
      log.warn({ reason: faultOf(name, error).message }, 'secret not read, the one before stays in use');
    }
  }

  return every({ name: variable, ms: everyMs, run: read });
}
