import { YardmasterError } from '@yardmaster/protocol';
import { fieldsOf } from '@yardmaster/redis';
import { call } from '../call.js';
import { runScript } from '../script/run-script.js';
import { revoke_key } from '../script/scripts.generated.js';
import type { Store } from '../store.js';
import { redisNow } from '../time.js';
import { parsed } from './api-keys.js';
import { checkMayAdminister } from './bounds.js';
import { isValidAt, type Principal, type StoredKey } from './secrets.js';

/** Descendants that a step revokes, which takes Redis about 1 ms. */
const STEP = 100;

/**
 * Revoke a key and the first of its descendants.
 *
 * @param key null if it cannot be read, or is already revoked
 * @returns IDs of the revoked keys
 */
async function revokeStep(
  store: Store,
  keyId: string,
  key: StoredKey | null = null,
  keepsChildren = false,
): Promise<string[]> {
  const { apiKeys: records, apiKeyIndex: index, apiKeyChildren: children, keyUses: uses, revoking } = store.keys;
  const { revoked } = await runScript(store, revoke_key, {
    keys: { records, index, children, uses, revoking },
    args: {
      ...{ keyId, space: key?.spaceId ?? '', maker: key?.createdBy ?? '' },
      ...{ keepsChildren: keepsChildren ? '1' : '0', channel: store.keys.revocations, most: STEP },
    },
  });
  return revoked;
}

/**
 * Finish revocations that were interrupted between two steps. Schedulers call this, and so does every revocation.
 *
 * @returns IDs of the revoked keys
 * @throws UNAVAILABLE
 */
export async function finishRevocations(store: Store): Promise<string[]> {
  const revoked: string[] = [];
  for (;;) {
    const ids = await call(store, 'smembers', store.redis.smembers(store.keys.revoking));
    if (ids.length === 0) return revoked;
    for (const id of ids) revoked.push(...(await revokeStep(store, id)));
  }
}

/** Result of a revocation. */
export interface Revoked {
  /** The key; null if its record could not be read. */
  key: StoredKey | null;
  /** IDs of all revoked keys. */
  ids: string[];
}

/**
 * Revoke a key and all of its descendants. A message makes every process forget them. More than a hundred take several
 * steps; if one fails, the next revocation of any key does the rest.
 *
 * @param caller caller whose key limits what it may revoke; null for no limit
 * @param keepsChildren whether the keys that it made stay valid
 * @throws KEY_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 */
export async function revokeKey(
  store: Store,
  id: string,
  caller: Principal | null = null,
  keepsChildren = false,
): Promise<Revoked> {
  const record = await call(store, 'hget', store.redis.hget(store.keys.apiKeys, id));
  const key = parsed(record);
  if (record !== null && caller !== null && caller.spaceId !== null) {
    // The space and the scopes of a key never change.
    if (key === null) throw new YardmasterError('FORBIDDEN');
    checkMayAdminister(key, caller);
  }
  const ids = record === null ? [] : await revokeStep(store, id, key, keepsChildren);
  ids.push(...(await finishRevocations(store)));
  if (!ids.includes(id)) throw new YardmasterError('KEY_NOT_FOUND');
  return { key, ids };
}

/**
 * Remove every expired key. It must have expired by the clock of Redis and by that of this process, because a removed key
 * does not return when a wrong clock is corrected. The keys that it made stay valid.
 *
 * @returns number of removed keys
 * @throws UNAVAILABLE
 */
export async function removeExpiredKeys(store: Store): Promise<number> {
  const now = Math.min(await redisNow(store), Date.now());
  let removed = 0;
  for await (const records of fieldsOf(store.redis, store.keys.apiKeys)) {
    const read = records.map(([id, record]) => ({ id, key: parsed(record) }));
    const expired = read.filter(({ key }) => isExpired(key, now));
    const steps = await Promise.all(expired.map(({ id, key }) => revokeStep(store, id, key, true)));
    removed += steps.flat().length;
  }
  return removed;
}

const isExpired = (key: StoredKey | null, now: number) => key !== null && !isValidAt(key, now);
