import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  type ApiKey,
  type CreateKeyRequest,
  invalidRequest,
  type NewApiKey,
  YardmasterError,
} from '@yardmaster/protocol';
import { ask } from './ask.js';
import { fieldsOf } from './fsck/walk.js';
import { randomBase32 } from './partition.js';
import type { Store } from './store.js';
import { publish } from './subscriptions/subscriptions.js';
import { redisNow } from './time.js';

/** A key as stored: the secret only as its SHA-256, base64. */
export interface StoredKey extends ApiKey {
  secretHash: string;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();

/** Whether a secret is the one whose hash this is, in constant time. */
export function isSecretOf(key: Pick<StoredKey, 'secretHash'>, secret: string): boolean {
  return timingSafeEqual(Buffer.from(key.secretHash, 'base64'), sha256(secret));
}

/** SHA-256 of a secret, base64. */
export function hashOfSecret(secret: string): string {
  return sha256(secret).toString('base64');
}

/** Split `ym_<keyId>_<secret>`; null for a text of another shape. */
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
export async function createKey(store: Store, request: CreateKeyRequest): Promise<NewApiKey> {
  const now = await redisNow(store);
  if (!isValidAt(request, now))
    throw invalidRequest([{ path: 'expiresAt', message: 'expiresAt must be in the future' }]);
  const secret = randomBytes(32).toString('hex');
  const key: ApiKey = { id: randomBase32(16), ...request, createdAt: new Date(now).toISOString() };
  const stored: StoredKey = { ...key, secretHash: hashOfSecret(secret) };
  await ask(store, 'hset', store.redis.hset(store.keys.apiKeys, key.id, JSON.stringify(stored)));
  const { id, name, scopes, spaceId, expiresAt, createdAt } = key;
  return { id, key: `ym_${id}_${secret}`, name, scopes, spaceId, expiresAt, createdAt };
}

/**
 * List every API key, newest first, without secrets.
 *
 * @throws UNAVAILABLE
 */
export async function listKeys(store: Store): Promise<ApiKey[]> {
  const records = await ask(store, 'hvals', store.redis.hvals(store.keys.apiKeys));
  return records
    .map((text) => withoutSecret(JSON.parse(text) as StoredKey))
    .sort((a, b) => b.createdAt.localeCompare(a.createdAt) || a.id.localeCompare(b.id));
}

/** Whether any API key exists. */
export async function hasKeys(store: Store): Promise<boolean> {
  return (await ask(store, 'hlen', store.redis.hlen(store.keys.apiKeys))) > 0;
}

/**
 * Read one key, and how long it stays valid by Redis' clock, so that a pod whose clock is off keeps no key too long.
 *
 * @returns null for an unknown, revoked or expired key
 */
export async function readKey(store: Store, id: string): Promise<{ key: StoredKey; validMs: number } | null> {
  // Sent together, answered together.
  const [record, now] = await Promise.all([
    ask(store, 'hget', store.redis.hget(store.keys.apiKeys, id)),
    redisNow(store),
  ]);
  if (record === null) return null;
  const key = JSON.parse(record) as StoredKey;
  const validMs = key.expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(key.expiresAt) - now;
  return validMs > 0 ? { key, validMs } : null;
}

/** Keys asked for at once: some 200 KB of reply. */
const KEYS_AT_ONCE = 500;

/**
 * Tell which of some keys are good no more: unknown, revoked or expired.
 *
 * @throws UNAVAILABLE
 */
export async function invalidKeys(store: Store, ids: readonly string[]): Promise<string[]> {
  const invalid: string[] = [];
  for (let i = 0; i < ids.length; i += KEYS_AT_ONCE) {
    const portion = ids.slice(i, i + KEYS_AT_ONCE);
    const [records, now] = await Promise.all([
      ask(store, 'hmget', store.redis.hmget(store.keys.apiKeys, ...portion)),
      redisNow(store),
    ]);
    invalid.push(...portion.filter((_, n) => !isGood(records[n] ?? null, now)));
  }
  return invalid;
}

function isGood(record: string | null, now: number): boolean {
  if (record === null) return false;
  try {
    return isValidAt(JSON.parse(record) as StoredKey, now);
  } catch {
    return false; // A record that cannot be read lets nobody in, and must not keep the others from being checked.
  }
}

const isValidAt = ({ expiresAt }: Pick<ApiKey, 'expiresAt'>, now: number) =>
  expiresAt === null || Date.parse(expiresAt) > now;

/**
 * Remove every key that has expired, by Redis' clock and by ours: what is removed does not come back when a clock that was
 * wrong is put right. It was of no use any more, so no process has to hear of it.
 *
 * @returns how many
 * @throws UNAVAILABLE
 */
export async function removeExpiredKeys(store: Store): Promise<number> {
  const now = Math.min(await redisNow(store), Date.now());
  let removed = 0;
  for await (const records of fieldsOf(store, store.keys.apiKeys)) {
    const expired = records.filter(([, record]) => isExpired(record, now)).map(([id]) => id);
    if (expired.length > 0) removed += await ask(store, 'hdel', store.redis.hdel(store.keys.apiKeys, ...expired));
  }
  return removed;
}

/** Whether a record says so; one that cannot be read is fsck's to report. */
function isExpired(record: string, now: number): boolean {
  try {
    return !isValidAt(JSON.parse(record) as StoredKey, now);
  } catch {
    return false;
  }
}

/**
 * Revoke a key: it is gone at once, and every pod is told to forget it.
 *
 * @throws KEY_NOT_FOUND, UNAVAILABLE
 */
export async function revokeKey(store: Store, id: string): Promise<void> {
  // In one batch, but not in MULTI, which Redis refuses altogether when memory is full. Should only the first get
  // through, the caches forget the key by themselves.
  const [deleted] = await Promise.all([
    ask(store, 'hdel', store.redis.hdel(store.keys.apiKeys, id)),
    ask(store, 'publish', publish(store.redis, store.keys.revocations, id)),
  ]);
  if (deleted === 0) throw new YardmasterError('KEY_NOT_FOUND');
}
