import {
  type ApiKey,
  type CreatedApiKey,
  invalidRequest,
  type ListKeysQuery,
  YardmasterError,
} from '@yardmaster/protocol';
import { call } from '../call.js';
import { newKeyId } from '../keys.js';
import { runScript } from '../script/run-script.js';
import { create_key, list_keys } from '../script/scripts.generated.js';
import type { Caller, Store } from '../store.js';
import { isoOf, redisNow } from '../time.js';
import { boundRequest, checkBuckets, type NewKey } from './bounds.js';
import {
  ADMIN_KEY_ID,
  hashOfSecret,
  isValidAt,
  newSecret,
  oldestSecretAt,
  type Principal,
  readRecord,
  type StoredKey,
  withoutSecret,
  withSecret,
} from './secrets.js';

/**
 * Create an API key. Its calls also take from the buckets of the caller's key.
 *
 * @returns the key with its secret, which is never shown again
 * @throws INVALID_REQUEST when it would already have expired; FORBIDDEN; UNAUTHENTICATED when the caller's key was revoked
 *   in the meantime; TOO_MANY_KEYS, STORAGE_FULL, UNAVAILABLE
 */
export async function createKey(
  store: Store,
  request: NewKey,
  caller: Principal | null = null,
): Promise<CreatedApiKey> {
  const { limits = null, ...fields } = caller === null ? request : boundRequest(request, caller);
  const now = await redisNow(store);
  if (!isValidAt(fields, now))
    throw invalidRequest([{ path: 'expiresAt', message: 'expiresAt must be in the future' }]);
  const secret = newSecret();
  const maker = caller === null || caller.keyId === ADMIN_KEY_ID ? null : caller;
  const key = {
    ...{ id: newKeyId(now), ...fields, createdAt: new Date(now).toISOString() },
    ...(limits !== null && { limits }),
    ...(maker !== null && { createdBy: maker.keyId }),
  };
  const stored: StoredKey = {
    ...{ ...key, secretHash: hashOfSecret(secret) },
    ...(maker !== null && maker.buckets.length > 0 && { shared: maker.buckets }),
  };
  checkBuckets(stored);
  const { apiKeys: records, apiKeyIndex: index, apiKeyChildren: children } = store.keys;
  await runScript(store, create_key, {
    keys: { records, index, children },
    args: {
      ...{ keyId: key.id, record: JSON.stringify(stored) },
      ...{ space: key.spaceId ?? '', maker: maker?.keyId ?? '' },
    },
  });
  return withSecret(key, secret);
}

/** A page of API keys, and the cursor of the next page; null after the last page. */
export interface KeyPage {
  keys: ApiKey[];
  nextCursor: string | null;
}

/**
 * List the API keys that a caller may see, newest first, without secrets: all keys, or those of the space that the caller
 * is bound to. A key with a damaged record is skipped, so a page may be short.
 *
 * @throws UNAVAILABLE
 */
export async function listKeys(store: Store, { spaceId }: Caller, { limit, cursor }: ListKeysQuery): Promise<KeyPage> {
  const { apiKeys: records, apiKeyIndex: index, keyUses: uses } = store.keys;
  // One extra key tells whether there is another page.
  const { ids, stored, usedAt } = await runScript(store, list_keys, {
    keys: { records, index, uses },
    args: { space: spaceId ?? '', cursor: cursor ?? '', most: limit + 1 },
  });
  const page = ids.slice(0, limit).map((id, n) => ({ id, key: parsed(stored[n] ?? null), usedAt: usedAt[n] }));
  return {
    // fsck reports the others.
    keys: page.flatMap(({ key, usedAt }) => (key?.createdAt === undefined ? [] : [shown(key, usedAt)])),
    nextCursor: ids.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
}

/**
 * Read the fields of a key that its holder may see.
 *
 * @throws UNAUTHENTICATED when it was revoked in the meantime; UNAVAILABLE
 */
export async function readOwnKey(store: Store, id: string): Promise<ApiKey> {
  const [record, usedAt] = await Promise.all([
    call(store, 'hget', store.redis.hget(store.keys.apiKeys, id)),
    call(store, 'hget', store.redis.hget(store.keys.keyUses, id)),
  ]);
  if (record === null) throw new YardmasterError('UNAUTHENTICATED');
  return shown(readRecord(record), usedAt);
}

function shown(stored: StoredKey, usedAt: string | null | undefined): ApiKey {
  const key = withoutSecret(stored);
  return usedAt ? { ...key, lastUsedAt: isoOf(usedAt) } : key;
}

/** Check whether any API key exists. */
export async function hasKeys(store: Store): Promise<boolean> {
  return (await call(store, 'hlen', store.redis.hlen(store.keys.apiKeys))) > 0;
}

/**
 * Read a key and the clock of Redis, so that a process with a wrong clock does not accept an expired key.
 *
 * @returns null for an unknown, revoked or expired key
 */
export async function readKey(
  store: Store,
  id: string,
): Promise<{ key: StoredKey; record: string; now: number } | null> {
  // Both commands are sent in one round trip.
  const [record, now] = await Promise.all([
    call(store, 'hget', store.redis.hget(store.keys.apiKeys, id)),
    redisNow(store),
  ]);
  if (record === null) return null;
  const key = readRecord(record);
  return isValidAt(key, now) ? { key, record, now } : null;
}

/** Keys per read, for about 200 KB of reply. */
const KEYS_AT_ONCE = 500;

/**
 * Return the number of the oldest accepted secret for each of some keys; Infinity for a key that is no longer valid.
 *
 * @throws UNAVAILABLE
 */
export async function oldestSecretsOf(store: Store, ids: readonly string[]): Promise<Map<string, number>> {
  const oldest = new Map<string, number>();
  for (let i = 0; i < ids.length; i += KEYS_AT_ONCE) {
    const portion = ids.slice(i, i + KEYS_AT_ONCE);
    const [records, now] = await Promise.all([
      call(store, 'hmget', store.redis.hmget(store.keys.apiKeys, ...portion)),
      redisNow(store),
    ]);
    for (const [n, id] of portion.entries()) {
      const key = parsed(records[n] ?? null);
      oldest.set(id, key !== null && isValidAt(key, now) ? oldestSecretAt(key, now) : Number.POSITIVE_INFINITY);
    }
  }
  return oldest;
}

/**
 * Parse the record of a key; null for a damaged record. Such a record admits no client, but must not prevent the check of
 * other keys; fsck reports it.
 */
export function parsed(record: string | null): StoredKey | null {
  try {
    return record === null ? null : readRecord(record);
  } catch {
    return null;
  }
}
