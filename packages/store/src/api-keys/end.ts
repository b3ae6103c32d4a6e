import { YardmasterError } from '@yardmaster/protocol';
import { fieldsOf, publish } from '@yardmaster/redis';
import { call } from '../call.js';
import type { Store } from '../store.js';
import { redisNow } from '../time.js';
import { parsed } from './api-keys.js';
import { checkMayAdminister } from './bounds.js';
import { isValidAt, type Principal, type StoredKey } from './secrets.js';

/**
 * Revoke a key. It is gone at once, and a message makes every pod forget it.
 *
 * @param caller who may revoke only some keys; the default may revoke all
 * @returns the key; null when its record could not be read
 * @throws KEY_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 */
export async function revokeKey(store: Store, id: string, caller: Principal | null = null): Promise<StoredKey | null> {
  const { redis, keys } = store;
  if (caller !== null && caller.spaceId !== null) {
    const record = await call(store, 'hget', redis.hget(keys.apiKeys, id));
    if (record === null) throw new YardmasterError('KEY_NOT_FOUND');
    const key = parsed(record);
    // The space and the scopes of a key never change.
    if (key === null) throw new YardmasterError('FORBIDDEN');
    checkMayAdminister(key, caller);
  }
  // All go in one batch, but not in MULTI, which Redis refuses as a whole when memory is full. If only the first ones
  // arrive, the caches still drop the key, and `removeExpiredKeys` removes the time of its use.
  const [record, deleted] = await Promise.all([
    call(store, 'hget', redis.hget(keys.apiKeys, id)),
    call(store, 'hdel', redis.hdel(keys.apiKeys, id)),
    call(store, 'publish', publish(redis, keys.revocations, id)),
    call(store, 'hdel', redis.hdel(keys.keyUses, id)),
  ]);
  if (deleted === 0) throw new YardmasterError('KEY_NOT_FOUND');
  return parsed(record);
}

/**
 * Remove every key that has expired by Redis' clock and by the clock of this process. It must have expired by both,
 * because a removed key does not return when a wrong clock is corrected. No process has to be notified, because an
 * expired key is already useless. Times of use of keys that are gone are removed too.
 *
 * @returns how many keys were removed
 * @throws UNAVAILABLE
 */
export async function removeExpiredKeys(store: Store): Promise<number> {
  const { redis, keys } = store;
  const now = Math.min(await redisNow(store), Date.now());
  let removed = 0;
  for await (const records of fieldsOf(redis, keys.apiKeys)) {
    const expired = records.filter(([, record]) => isExpired(parsed(record), now)).map(([id]) => id);
    if (expired.length > 0) removed += await call(store, 'hdel', redis.hdel(keys.apiKeys, ...expired));
  }
  for await (const uses of fieldsOf(redis, keys.keyUses)) {
    const ids = uses.map(([id]) => id);
    const records = await call(store, 'hmget', redis.hmget(keys.apiKeys, ...ids));
    const gone = ids.filter((_, n) => records[n] === null);
    if (gone.length > 0) await call(store, 'hdel', redis.hdel(keys.keyUses, ...gone));
  }
  return removed;
}

const isExpired = (key: StoredKey | null, now: number) => key !== null && !isValidAt(key, now);
