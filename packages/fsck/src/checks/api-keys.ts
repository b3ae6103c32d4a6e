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
      typeof key.secretHash === 'string' &&
      // This is compared with the hash of a secret, which has 32 bytes.
      Buffer.from(key.secretHash, 'base64').length === 32
    );
  } catch {
    return false;
  }
}
