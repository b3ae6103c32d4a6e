import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  type ApiKey,
  type CreatedApiKey,
  type CreateKeyRequest,
  invalidRequest,
  type Scope,
  YardmasterError,
} from '@yardmaster/protocol';
import { fieldsOf, publish } from '@yardmaster/redis';
import { call } from '../call.js';
import { randomBase32 } from '../partition.js';
import type { Store } from '../store.js';
import { redisNow } from '../time.js';

/** A key as stored, which contains only the SHA-256 of the secret, in base64. */
export interface StoredKey extends ApiKey {
  secretHash: string;
}

/** The caller as its API key defines it: what the key may do, and where. */
export interface Principal {
  keyId: string;
  /** Every scope granted, including those that other scopes cover. */
  grants: ReadonlySet<Scope>;
  /** The one space it works in; null for every space. */
  spaceId: string | null;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();

/** Check in constant time whether a secret is the one with this hash. */
export function hasSecret(key: Pick<StoredKey, 'secretHash'>, secret: string): boolean {
  return timingSafeEqual(Buffer.from(key.secretHash, 'base64'), sha256(secret));
}

/** Return the SHA-256 of a secret, in base64. */
export function hashOfSecret(secret: string): string {
  return sha256(secret).toString('base64');
}

/** Split `ym_<keyId>_<secret>`; null for a text of another form. */
export function splitApiKey(text: string): { id: string; secret: string } | null {
  const match = /^ym_([a-z2-7]{1,32})_([A-Za-z0-9_-]{1,128})$/.exec(text);
  return match ? { id: match[1] as string, secret: match[2] as string } : null;
}

const withoutSecret = ({ secretHash: _, ...key }: StoredKey): ApiKey => key;

/**
 * Create an API key.
 *
 * @returns the key with its secret, which is never shown again
 * @throws INVALID_REQUEST when it would have expired, STORAGE_FULL, UNAVAILABLE
 */
export async function createKey(store: Store, request: CreateKeyRequest): Promise<CreatedApiKey> {
  const now = await redisNow(store);
  if (!isValidAt(request, now))
    throw invalidRequest([{ path: 'expiresAt', message: 'expiresAt must be in the future' }]);
  const secret = randomBytes(32).toString('hex');
  const key: ApiKey = { id: randomBase32(16), ...request, createdAt: new Date(now).toISOString() };
  const stored: StoredKey = { ...key, secretHash: hashOfSecret(secret) };
  await call(store, 'hset', store.redis.hset(store.keys.apiKeys, key.id, JSON.stringify(stored)));
  const { id, name, scopes, spaceId, expiresAt, createdAt } = key;
  return { id, key: `ym_${id}_${secret}`, name, scopes, spaceId, expiresAt, createdAt };
}

/**
 * List every API key, newest first, without secrets.
 *
 * @throws UNAVAILABLE
 */
export async function listKeys(store: Store): Promise<ApiKey[]> {
  const records = await call(store, 'hvals', store.redis.hvals(store.keys.apiKeys));
  return records
    .map((text) => withoutSecret(JSON.parse(text) as StoredKey))
    .sort((a, b) => b.createdAt.localeCompare(a.createdAt) || a.id.localeCompare(b.id));
}

/** Whether any API key exists. */
export async function hasKeys(store: Store): Promise<boolean> {
  return (await call(store, 'hlen', store.redis.hlen(store.keys.apiKeys))) > 0;
}

/**
 * Read one key, and how long it stays valid by Redis' clock, so that a pod with a wrong clock accepts no key for too
 * long.
 *
 * @returns null for an unknown, revoked or expired key
 */
export async function readKey(store: Store, id: string): Promise<{ key: StoredKey; validMs: number } | null> {
  // Both commands are sent together, and Redis replies to them together.
  const [record, now] = await Promise.all([
    call(store, 'hget', store.redis.hget(store.keys.apiKeys, id)),
    redisNow(store),
  ]);
  if (record === null) return null;
  const key = JSON.parse(record) as StoredKey;
  const validMs = key.expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(key.expiresAt) - now;
  return validMs > 0 ? { key, validMs } : null;
}

/** Keys read at once: some 200 KB of reply. */
const KEYS_AT_ONCE = 500;

/**
 * Return those of some keys that are no longer valid: unknown, revoked or expired.
 *
 * @throws UNAVAILABLE
 */
export async function invalidKeys(store: Store, ids: readonly string[]): Promise<string[]> {
  const invalid: string[] = [];
  for (let i = 0; i < ids.length; i += KEYS_AT_ONCE) {
    const portion = ids.slice(i, i + KEYS_AT_ONCE);
    const [records, now] = await Promise.all([
      call(store, 'hmget', store.redis.hmget(store.keys.apiKeys, ...portion)),
      redisNow(store),
    ]);
    invalid.push(...portion.filter((_, n) => stateOf(records[n] ?? null, now) !== 'valid'));
  }
  return invalid;
}

/**
 * Return the state of a stored key. A record that cannot be read admits no client, and must not prevent the check of
 * the other keys; fsck reports it.
 */
function stateOf(record: string | null, now: number): 'valid' | 'expired' | 'unusable' {
  if (record === null) return 'unusable';
  try {
    return isValidAt(JSON.parse(record) as StoredKey, now) ? 'valid' : 'expired';
  } catch {
    return 'unusable';
  }
}

const isValidAt = ({ expiresAt }: Pick<ApiKey, 'expiresAt'>, now: number) =>
  expiresAt === null || Date.parse(expiresAt) > now;

/**
 * Remove every key that has expired by Redis' clock and by the clock of this process. It must have expired by both,
 * because a removed key does not come back when a wrong clock is corrected. No process has to be notified, because an
 * expired key is already useless.
 *
 * @returns how many keys were removed
 * @throws UNAVAILABLE
 */
export async function removeExpiredKeys(store: Store): Promise<number> {
  const now = Math.min(await redisNow(store), Date.now());
  let removed = 0;
  for await (const records of fieldsOf(store.redis, store.keys.apiKeys)) {
    const expired = records.filter(([, record]) => stateOf(record, now) === 'expired').map(([id]) => id);
    if (expired.length > 0) removed += await call(store, 'hdel', store.redis.hdel(store.keys.apiKeys, ...expired));
  }
  return removed;
}

/**
 * Revoke a key. It is gone at once, and a message makes every pod forget it.
 *
 * @throws KEY_NOT_FOUND, UNAVAILABLE
 */
export async function revokeKey(store: Store, id: string): Promise<void> {
  // Both go in one batch, but not in MULTI, which Redis refuses as a whole when memory is full. If only the first
  // arrives, the caches drop the key by themselves.
  const [deleted] = await Promise.all([
    call(store, 'hdel', store.redis.hdel(store.keys.apiKeys, id)),
    call(store, 'publish', publish(store.redis, store.keys.revocations, id)),
  ]);
  if (deleted === 0) throw new YardmasterError('KEY_NOT_FOUND');
}
