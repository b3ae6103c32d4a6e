import type { Route } from '@yardmaster/api';
import fc from 'fast-check';

/** Space of every job that a request names. */
export const JOBS_SPACE = 'fuzz.jobs';

/** Space of every request that names a space, and of the key `bound`: a poll must not get the jobs of the others. */
export const CALLS_SPACE = 'fuzz_calls';

/**
 * Space whose settings requests change, and which they pause: no other request is about it, because the expected responses
 * are those without settings.
 */
export const SET_SPACE = 'fuzz-set';

/** The scopes of the key `bound`: all except `keys:manage` and `spaces:manage`. */
export const BOUND_SCOPES = ['jobs:worker', 'jobs:create', 'jobs:kill', 'jobs:manage'];

/** The header lines of an API key, with the placeholders `{admin}` and `{bound}`. */
export type KeyLines = [name: string, value: string][];

export const ADMIN: KeyLines = [['x-api-key', '{admin}']];

const BOUND: KeyLines = [['x-api-key', '{bound}']];

const NO_KEYS = ['', 'x', 'ym_', `ym_${'a'.repeat(20)}_${'b'.repeat(43)}`, '{bound}x', 'Bearer {admin}', '\x80\xe9'];

/** Draw the header lines of an API key; test/api/scopes.test.ts has more. */
export const anyKey = fc.constantFrom<KeyLines[]>(
  ...[BOUND, BOUND, BOUND, [['X-API-KEY', ' {admin}\t']] as KeyLines],
  ...NO_KEYS.map((text): KeyLines => [['x-api-key', text]]),
  ...[[], [...ADMIN, ...ADMIN], [['authorization', 'Bearer {admin}']] as KeyLines],
);

/** Return how an endpoint refuses a key before it reads the job; null if it does not. */
export function keyRefusal(key: KeyLines, { scopes }: Route): 'UNAUTHENTICATED' | 'FORBIDDEN' | null {
  const [[name, value] = ['', ''], ...more] = key;
  const line = `${name.toLowerCase()}: ${value.trim()}`;
  if (more.length > 0 || !/^(x-api-key: |authorization: Bearer )\{(admin|bound)\}$/.test(line))
    return 'UNAUTHENTICATED';
  const isRefused = scopes.includes('keys:manage') || scopes.includes('spaces:manage');
  return isBound(key) && isRefused ? 'FORBIDDEN' : null;
}

export const isBound = (key: KeyLines) => key === BOUND;
