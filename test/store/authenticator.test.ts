import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, expect, it } from '@jest/globals';
import { ConnectionSubscriptions } from '@yardmaster/redis';
import { Authenticator, createKey, createStore, revokeKey, type Store } from '@yardmaster/store';
import { Redis } from 'ioredis';
import { sharedService } from '../support/shared-service.js';
import { until } from '../support/until.js';

const connections: Redis[] = [];
const connect = () => {
  const redis = new Redis(sharedService().redisUrl.replace('unix://', ''), {
    disconnectTimeout: 50,
    autoResubscribe: false, // As for every subscriber of the service.
  });
  connections.push(redis);
  return redis;
};
afterAll(() => {
  for (const redis of connections) redis.disconnect();
});

let store: Store;
beforeEach(() => {
  store = createStore(connect(), { keyPrefix: `t-${randomUUID().slice(0, 8)}` });
});

const request = { name: 'test', scopes: ['jobs:read' as const], spaceId: null, expiresAt: null };

/** Count how often the store reads a key from Redis. */
function countReads(of: Store): () => number {
  let reads = 0;
  const hget = of.redis.hget.bind(of.redis);
  of.redis.hget = ((...args: Parameters<typeof hget>) => {
    reads++;
    return hget(...args);
  }) as typeof of.redis.hget;
  return () => reads;
}

it('the authenticator reads a valid API key from Redis once, and grants what its scopes cover', async () => {
  const { key, id } = await createKey(store, { ...request, spaceId: 'mine' });
  const authenticator = new Authenticator(store);
  const reads = countReads(store);
  for (let i = 0; i < 3; i++) {
    expect(await authenticator.authenticate(key)).toEqual({
      ...{ keyId: id, name: 'test', expiresAt: null, limits: null, rotation: 0 },
      grants: new Set(['jobs:read', 'jobs:read:progress']),
      spaceId: 'mine',
    });
  }
  expect(reads()).toBe(1);
});

it('the authenticator reads a cached API key again after cacheMs', async () => {
  const { key } = await createKey(store, request);
  const authenticator = new Authenticator(store, { cacheMs: 50 });
  const reads = countReads(store);
  await authenticator.authenticate(key);
  await until(async () => (await authenticator.authenticate(key)) !== null && reads() === 2);
});

it('the authenticator caches no more API keys than its capacity', async () => {
  const keys = await Promise.all([1, 2, 3].map(() => createKey(store, request)));
  const authenticator = new Authenticator(store, { capacity: 2 });
  const reads = countReads(store);
  for (const { key } of keys) await authenticator.authenticate(key);
  await authenticator.authenticate(keys[2]?.key as string);
  expect(reads()).toBe(3);
  await authenticator.authenticate(keys[0]?.key as string);
  expect(reads()).toBe(4);
});

it('stores no secret of an API key', async () => {
  const { key } = await createKey(store, request);
  const stored = JSON.stringify(await store.redis.hgetall(store.keys.apiKeys));
  expect(stored).not.toContain(key.split('_')[2]);
});

it('a revoked API key is refused by an authenticator that had cached it once the revocation is published', async () => {
  const { key, id } = await createKey(store, request);
  const authenticator = new Authenticator(store);
  await authenticator.listen(new ConnectionSubscriptions(connect()));
  const revoked: string[] = [];
  authenticator.onEnded((keyId) => revoked.push(keyId));
  expect(await authenticator.authenticate(key)).not.toBeNull();

  await revokeKey(store, id);

  await until(() => revoked.length > 0);
  expect(revoked).toEqual([id]);
  expect(await authenticator.authenticate(key)).toBeNull();
});

it('a revoked API key is not cached by a read that was in progress at its revocation', async () => {
  const { key, id } = await createKey(store, request);
  const authenticator = new Authenticator(store);
  await authenticator.listen(new ConnectionSubscriptions(connect()));
  const revoked: string[] = [];
  authenticator.onEnded((keyId) => revoked.push(keyId));
  // The reply, in which the key is still valid, is delayed until the revocation was received.
  const other = createStore(connect(), store.settings);
  const hget = store.redis.hget.bind(store.redis);
  store.redis.hget = (async (...args: Parameters<typeof hget>) => {
    const reply = await hget(...args);
    await revokeKey(other, id);
    await until(() => revoked.length > 0);
    return reply;
  }) as typeof store.redis.hget;

  expect(await authenticator.authenticate(key)).toBeNull();
  store.redis.hget = hget;
  expect(await authenticator.authenticate(key)).toBeNull();
});

it('a revoked API key is refused after a reconnection, although the message of its revocation was missed', async () => {
  const { key, id } = await createKey(store, request);
  const authenticator = new Authenticator(store);
  const subscriber = connect();
  await authenticator.listen(new ConnectionSubscriptions(subscriber));
  expect(await authenticator.authenticate(key)).not.toBeNull();
  await store.redis.hdel(store.keys.apiKeys, id); // Revoked without a message.
  expect(await authenticator.authenticate(key)).not.toBeNull();
  subscriber.disconnect(true);
  await until(async () => (await authenticator.authenticate(key)) === null);
});

it('returns which of many API keys are no longer valid, even for broken records', async () => {
  const keys = await Promise.all(Array.from({ length: 600 }, () => createKey(store, request)));
  const [revoked, expired, broken] = keys.slice(498).map(({ id }) => id) as [string, string, string];
  await revokeKey(store, revoked);
  const record = JSON.parse((await store.redis.hget(store.keys.apiKeys, expired)) as string);
  const past = { ...record, expiresAt: '2020-01-01T00:00:00.000Z' };
  await store.redis.hset(store.keys.apiKeys, { [expired]: JSON.stringify(past), [broken]: '{"secret' });
  const authenticator = new Authenticator(store, { adminKey: 'admin-key-of-the-tests-of-yardmaster' });
  const ids = ['admin', ...keys.map(({ id }) => id)];
  const ended = [...(await authenticator.oldestSecretsOf(ids))].filter(([, oldest]) => oldest !== 0);
  const infinite = [revoked, expired, broken].map((id) => [id, Number.POSITIVE_INFINITY]);
  expect(ended.sort()).toEqual(infinite.sort());
});
