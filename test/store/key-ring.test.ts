import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { CreateKeyRequest } from '@yardmaster/protocol';
import { ConnectionSubscriptions } from '@yardmaster/redis';
import { Authenticator, createKey, createStore, revokeKey, type Store } from '@yardmaster/store';
import { Redis } from 'ioredis';
import { sharedService } from '../support/shared-service.js';
import { until } from '../support/until.js';

const connections: Redis[] = [];
const connect = () => {
  const redis = new Redis(sharedService().redisUrl.replace('unix://', ''), {
    disconnectTimeout: 50,
    autoResubscribe: false, // As for every subscriber of ours.
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

const request: CreateKeyRequest = { name: 'test', scopes: ['jobs:read'], spaceId: null, expiresAt: null };

/** Count how often the store asks Redis for a key. */
function countReads(of: Store): () => number {
  let reads = 0;
  const hget = of.redis.hget.bind(of.redis);
  of.redis.hget = ((...args: Parameters<typeof hget>) => {
    reads++;
    return hget(...args);
  }) as typeof of.redis.hget;
  return () => reads;
}

it('asks Redis once for a key that it believes, and grants what its scopes cover', async () => {
  const { key, id } = await createKey(store, { ...request, spaceId: 'mine' });
  const ring = new Authenticator(store);
  const reads = countReads(store);
  for (let i = 0; i < 3; i++) {
    expect(await ring.authenticate(key)).toEqual({
      keyId: id,
      grants: new Set(['jobs:read', 'jobs:read:progress']),
      spaceId: 'mine',
    });
  }
  expect(reads()).toBe(1);
});

it('believes a key no longer than it may, and then asks again', async () => {
  const { key } = await createKey(store, request);
  const ring = new Authenticator(store, { cacheMs: 50 });
  const reads = countReads(store);
  await ring.authenticate(key);
  await until(async () => (await ring.authenticate(key)) !== null && reads() === 2);
});

it('keeps no more keys than its capacity', async () => {
  const keys = await Promise.all([1, 2, 3].map(() => createKey(store, request)));
  const ring = new Authenticator(store, { capacity: 2 });
  const reads = countReads(store);
  for (const { key } of keys) await ring.authenticate(key);
  await ring.authenticate(keys[2]?.key as string);
  expect(reads()).toBe(3);
  await ring.authenticate(keys[0]?.key as string);
  expect(reads()).toBe(4);
});

it('stores no secret', async () => {
  const { key } = await createKey(store, request);
  const stored = JSON.stringify(await store.redis.hgetall(store.keys.apiKeys));
  expect(stored).not.toContain(key.split('_')[2]);
});

describe('a revoked key', () => {
  it('is refused by a ring that believed it, as soon as it hears of it', async () => {
    const { key, id } = await createKey(store, request);
    const ring = new Authenticator(store);
    await ring.listen(new ConnectionSubscriptions(connect()));
    const heard: string[] = [];
    ring.onRevoked((keyId) => heard.push(keyId));
    expect(await ring.authenticate(key)).not.toBeNull();

    await revokeKey(store, id);

    await until(() => heard.length > 0);
    expect(heard).toEqual([id]);
    expect(await ring.authenticate(key)).toBeNull();
  });

  it('is not put back by a read that was under way when the news came', async () => {
    const { key, id } = await createKey(store, request);
    const ring = new Authenticator(store);
    await ring.listen(new ConnectionSubscriptions(connect()));
    const heard: string[] = [];
    ring.onRevoked((keyId) => heard.push(keyId));
    // The reply is held back until the revocation has been heard: it still says that the key is good.
    const hget = store.redis.hget.bind(store.redis);
    store.redis.hget = (async (...args: Parameters<typeof hget>) => {
      const reply = await hget(...args);
      await revokeKey(store, id);
      await until(() => heard.length > 0);
      return reply;
    }) as typeof store.redis.hget;

    expect(await ring.authenticate(key)).toBeNull();
    store.redis.hget = hget;
    expect(await ring.authenticate(key)).toBeNull();
  });

  it('is refused after a lost connection, although the news was missed', async () => {
    const { key, id } = await createKey(store, request);
    const ring = new Authenticator(store);
    const subscriber = connect();
    await ring.listen(new ConnectionSubscriptions(subscriber));
    expect(await ring.authenticate(key)).not.toBeNull();
    await store.redis.hdel(store.keys.apiKeys, id); // As revoked, but nobody is told.
    expect(await ring.authenticate(key)).not.toBeNull();
    subscriber.disconnect(true);
    await until(async () => (await ring.authenticate(key)) === null);
  });
});

it('tells which of many keys are good no more, whatever a record holds', async () => {
  const keys = await Promise.all(Array.from({ length: 600 }, () => createKey(store, request)));
  const [revoked, expired, broken] = keys.slice(498).map(({ id }) => id) as [string, string, string];
  await revokeKey(store, revoked);
  const record = JSON.parse((await store.redis.hget(store.keys.apiKeys, expired)) as string);
  const past = { ...record, expiresAt: '2020-01-01T00:00:00.000Z' };
  await store.redis.hset(store.keys.apiKeys, { [expired]: JSON.stringify(past), [broken]: '{"secret' });
  const ring = new Authenticator(store, { adminKey: 'admin-key-of-the-tests-of-yardmaster' });
  const asked = ['admin', ...keys.map(({ id }) => id)];
  expect((await ring.invalidOf(asked)).sort()).toEqual([revoked, expired, broken].sort());
});
