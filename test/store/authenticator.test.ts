import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ConnectionSubscriptions } from '@yardmaster/redis';
import { Authenticator, createKey, createStore, type Principal, revokeKey, type Store } from '@yardmaster/store';
import { Redis } from 'ioredis';
import { type Entry, KeyCache } from '../../packages/store/src/api-keys/key-cache.js';
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

/** Create an authenticator that hears of revocations, and the ids of keys that it has heard of. */
async function listening() {
  const authenticator = new Authenticator(store);
  await authenticator.listen(new ConnectionSubscriptions(connect()));
  const revoked: string[] = [];
  authenticator.onEnded((keyId) => revoked.push(keyId));
  return { authenticator, revoked };
}

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
      ...{ keyId: id, name: 'test', expiresAt: null, limits: null, buckets: [], rotation: 0 },
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
  const { authenticator, revoked } = await listening();
  expect(await authenticator.authenticate(key)).not.toBeNull();

  await revokeKey(store, id);

  await until(() => revoked.length > 0);
  expect(revoked).toEqual([id]);
  expect(await authenticator.authenticate(key)).toBeNull();
});

it('a revoked API key is not cached by a read that was in progress at its revocation', async () => {
  const { key, id } = await createKey(store, request);
  const { authenticator, revoked } = await listening();
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

it('a revoked API key is refused after a reconnection, even if the message of its revocation was missed', async () => {
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

const HOUR = 3_600_000;
const make = (expiresAt: string | null = null) =>
  createKey(store, { name: 'test', scopes: ['jobs:read'], spaceId: null, expiresAt });

/** Make an authenticator that has cached a valid key for an hour. */
async function authenticatorThatCached(key: string, options = {}): Promise<Authenticator> {
  const authenticator = new Authenticator(store, { cacheMs: HOUR, ...options });
  expect(authenticator.cached(key)).toBeUndefined();
  expect(await authenticator.authenticate(key)).not.toBeNull();
  expect(authenticator.cached(key)).toEqual(await authenticator.authenticate(key));
  return authenticator;
}

it('forgets a cached API key after this process has revoked it', async () => {
  const { key, id } = await make();
  const authenticator = await authenticatorThatCached(key);
  await authenticator.revoke(id);
  expect(authenticator.cached(key)).toBeUndefined();
  expect(await authenticator.authenticate(key)).toBeNull();
});

it('forgets a cached API key after another process has published its revocation', async () => {
  const { key, id } = await make();
  const authenticator = await authenticatorThatCached(key);
  await authenticator.listen(new ConnectionSubscriptions(connect()));
  await authenticator.authenticate(key); // Cache it again: the subscription has cleared the cache.
  const cachedAtRevocation: unknown[] = [];
  authenticator.onEnded(() => cachedAtRevocation.push(authenticator.cached(key)));
  expect(authenticator.cached(key)).toBeDefined();
  await revokeKey(store, id);
  await until(() => cachedAtRevocation.length > 0);
  expect(cachedAtRevocation).toEqual([undefined]);
});

it('forgets the cached API keys that a key created after this or another process has revoked that key', async () => {
  for (const isOther of [false, true]) {
    const maker = await make();
    const caller = await new Authenticator(store).authenticate(maker.key);
    const made = await Promise.all([1, 2, 3].map(() => createKey(store, request, caller)));
    const authenticator = new Authenticator(store, { cacheMs: HOUR });
    if (isOther) await authenticator.listen(new ConnectionSubscriptions(connect()));
    const all = [maker, ...made].map(({ key }) => key);
    for (const key of all) await authenticator.authenticate(key);
    if (isOther) await revokeKey(store, maker.id);
    else await authenticator.revoke(maker.id);
    await until(() => all.every((key) => authenticator.cached(key) === undefined));
  }
});

it('forgets a cached API key after a lost connection that may have hidden a revocation', async () => {
  const { key, id } = await make();
  const authenticator = await authenticatorThatCached(key);
  const subscriber = connect();
  await authenticator.listen(new ConnectionSubscriptions(subscriber));
  await authenticator.authenticate(key);
  await store.redis.hdel(store.keys.apiKeys, id); // Revoked without a message.
  expect(authenticator.cached(key)).toBeDefined();
  subscriber.disconnect(true);
  await until(() => authenticator.cached(key) === undefined);
  expect(await authenticator.authenticate(key)).toBeNull();
});

it('forgets a cached API key after Redis has reported its id as invalid', async () => {
  const { key, id } = await make();
  const authenticator = await authenticatorThatCached(key);
  await revokeKey(store, id);
  expect(authenticator.cached(key)).toBeDefined();
  expect(await authenticator.oldestSecretsOf([id])).toEqual(new Map([[id, Number.POSITIVE_INFINITY]]));
  expect(authenticator.cached(key)).toBeUndefined();
});

it('caches an API key no longer than it is valid', async () => {
  const { key } = await make(new Date(Date.now() + 5_000).toISOString());
  const authenticator = await authenticatorThatCached(key);
  await until(() => authenticator.cached(key) === undefined);
  // The read from Redis came slightly after the time of caching, so the key may be valid slightly longer.
  await until(async () => (await authenticator.authenticate(key)) === null);
  expect(authenticator.cached(key)).toBeUndefined();
});

it('caches an API key no longer than cacheMs', async () => {
  const { key } = await make();
  const authenticator = new Authenticator(store, { cacheMs: 100 });
  await authenticator.authenticate(key);
  await until(() => authenticator.cached(key) === undefined);
  expect(await authenticator.authenticate(key)).not.toBeNull();
});

it('evicts a cached API key for newer keys above the capacity', async () => {
  const [first, second, third] = [(await make()).key, (await make()).key, (await make()).key];
  const authenticator = await authenticatorThatCached(first, { capacity: 2 });
  await authenticator.authenticate(second);
  await authenticator.authenticate(third);
  const isCached = [first, second, third].map((key) => authenticator.cached(key) !== undefined);
  expect(isCached).toEqual([false, true, true]);
});

it('caching an API key makes no other text valid', async () => {
  const { key } = await make();
  const wrong = [`${key.slice(0, -1)}x`, `${key}0`, key.slice(0, -1), ` ${key}`, key.toUpperCase(), ''];
  const authenticator = new Authenticator(store, { cacheMs: HOUR });
  const found = () => Promise.all(wrong.map((text) => authenticator.authenticate(text)));
  const known = () => wrong.map((text) => authenticator.cached(text));
  for (const isRightCached of [false, true]) {
    expect(await found()).toEqual(wrong.map(() => null));
    expect(known()).toEqual(wrong.map(() => undefined));
    expect(authenticator.cached(key) !== undefined).toBe(isRightCached);
    await authenticator.authenticate(key);
  }
});

it('caches ADMIN_API_KEY from the start, and accepts no other text for it', async () => {
  const adminKey = 'admin-key-of-the-tests-of-yardmaster';
  const authenticator = new Authenticator(store, { adminKey });
  expect(authenticator.cached(adminKey)).toEqual(await authenticator.authenticate(adminKey));
  expect([`${adminKey} `, adminKey.slice(1), '', 'admin'].map((text) => authenticator.cached(text))).toEqual(
    Array.from({ length: 4 }, () => undefined),
  );
  expect(new Authenticator(store, { adminKey: '' }).cached('')).toBeUndefined();
});

it('accepts only the new ADMIN_API_KEY once it is replaced, and closes what the previous one opened', async () => {
  const authenticator = new Authenticator(store, { adminKey: 'first' });
  const ended: unknown[] = [];
  authenticator.onEnded((...of) => ended.push(of));
  const before = (await authenticator.authenticate('first')) as Principal;
  const grant = { ...{ scope: 'jobs:read' as const, jobIds: null, tag: null, spaceId: 'a' }, expiresAt: 0 };
  const token = await authenticator.createStreamToken(before, grant);

  authenticator.replaceAdminKey('second');

  expect(ended).toEqual([['admin', 1]]);
  expect([authenticator.cached('first'), await authenticator.authenticate('first')]).toEqual([undefined, null]);
  expect(authenticator.isEnded(before)).toBe(true);
  expect(await authenticator.ofStreamToken(token)).toBeNull();
  const now = (await authenticator.authenticate('second')) as Principal;
  expect(now).toMatchObject({ keyId: 'admin', rotation: 1 });
  expect(authenticator.isEnded(now)).toBe(false);
});

describe('API key cache', () => {
  const entry = (): Entry => ({
    stored: { secretHash: '' },
    principal: {
      ...{ keyId: 'x', name: '', grants: new Set(), spaceId: null, expiresAt: null },
      ...{ limits: null, buckets: [], rotation: 0 },
    },
    until: Number.POSITIVE_INFINITY,
  });

  it('the API key cache ignores the text of an entry that is removed while the text is checked', () => {
    const cache = new KeyCache(10);
    const [before, after] = [entry(), entry()];
    cache.set('a', [before]);
    cache.delete('a');
    cache.confirm('a', before, 'text');
    expect(cache.ofText('text')).toBeUndefined();
    cache.set('a', [after]);
    cache.confirm('a', before, 'text');
    expect(cache.ofText('text')).toBeUndefined();
  });

  it('the API key cache removes the text of an entry together with the entry', () => {
    const cache = new KeyCache(2);
    const known = (id: string) => {
      const one = entry();
      cache.set(id, [one]);
      cache.confirm(id, one, `text of ${id}`);
    };
    const texts = () => ['a', 'b', 'c'].filter((id) => cache.ofText(`text of ${id}`));
    known('a');
    known('b');
    known('c');
    expect(texts()).toEqual(['b', 'c']);
    cache.set('b', [entry()]);
    expect(texts()).toEqual(['c']);
    cache.delete('c');
    expect(texts()).toEqual([]);
    known('a');
    cache.clear();
    expect(texts()).toEqual([]);
  });
});
