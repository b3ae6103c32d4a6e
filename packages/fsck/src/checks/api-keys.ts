import { fieldsOf } from '@yardmaster/redis';
import { type CheckContext, faultOf, type Portion } from '../faults.js';

/** Look for API keys that cannot be read. Yields once a portion. */
export async function* checkApiKeys({ store }: CheckContext): AsyncGenerator<Portion> {
  const key = store.keys.apiKeys;
  for await (const records of fieldsOf(store.redis, key)) {
    const faults = records
      .filter(([id, record]) => !isApiKey(id, record))
      // The record is not quoted, because it contains the hash of the secret.
      .map(([id]) =>
        faultOf('api_key_broken', { jobId: null, key, detail: `key ${id}: revoke it, and make another` }, ''),
      );
    yield { seen: records.length, faults };
  }
}

function isApiKey(id: string, text: string): boolean {
  try {
    const key = JSON.parse(text) as Record<string, unknown>;
    const isTextOrNull = (value: unknown) => value === null || typeof value === 'string';
    return (
      key.id === id &&
      typeof key.name === 'string' &&
      Array.isArray(key.scopes) &&
      isTextOrNull(key.spaceId) &&
      (key.expiresAt === null || !Number.isNaN(Date.parse(String(key.expiresAt)))) &&
      isHash(key.secretHash) &&
      (key.rotations === undefined || Number.isSafeInteger(key.rotations)) &&
      (key.previous === undefined || isPrevious(key.previous)) &&
      (key.limits === undefined || isLimits(key.limits))
    );
  } catch {
    return false;
  }
}

/** Whether a value may be compared with the hash of a secret, which has 32 bytes. */
const isHash = (value: unknown) => typeof value === 'string' && Buffer.from(value, 'base64').length === 32;

/** Whether a value is the secret before a rotation, with the end of its overlap. */
function isPrevious(value: unknown): boolean {
  const { secretHash, until } = Object(value) as Record<string, unknown>;
  return isHash(secretHash) && !Number.isNaN(Date.parse(String(until)));
}

/** Whether a value is the limits of a key. */
function isLimits(value: unknown): boolean {
  const { perSecond, burst } = Object(value) as Record<string, unknown>;
  return [perSecond, burst].every((each) => typeof each === 'number' && each > 0);
}
