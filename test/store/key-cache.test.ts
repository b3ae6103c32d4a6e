import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ConnectionSubscriptions } from '@yardmaster/redis';
import { Authenticator, createKey, createStore, revokeKey, type Store } from '@yardmaster/store';
import { Redis } from 'ioredis';
import { type Entry, KeyCache } from '../../packages/store/src/api-keys/key-cache.js';
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

const HOUR = 3_600_000;
const make = (expiresAt: string | null = null) =>
  createKey(store, { name: 'test', scopes: ['jobs:read'], spaceId: null, expiresAt });

/** A ring that found a key right, and would believe it for an hour. */
async function ringThatKnows(key: string, options = {}): Promise<Authenticator> {
  const ring = new Authenticator(store, { cacheMs: HOUR, ...options });
  expect(ring.cached(key)).toBeUndefined();
  expect(await ring.authenticate(key)).not.toBeNull();
  expect(ring.cached(key)).toEqual(await ring.authenticate(key));
  return ring;
}

describe('a key that is known by its text', () => {
  it('is known no more once it is revoked here', async () => {
    const { key, id } = await make();
    const ring = await ringThatKnows(key);
    await ring.revoke(id);
    expect(ring.cached(key)).toBeUndefined();
    expect(await ring.authenticate(key)).toBeNull();
  });

  it('is known no more as soon as somebody else announces that it is revoked', async () => {
    const { key, id } = await make();
    const ring = await ringThatKnows(key);
    await ring.listen(new ConnectionSubscriptions(connect()));
    await ring.authenticate(key); // Known again: the subscription has dropped it.
    const knownWhenHeard: unknown[] = [];
    ring.onRevoked(() => knownWhenHeard.push(ring.cached(key)));
    expect(ring.cached(key)).toBeDefined();
    await revokeKey(store, id);
    await until(() => knownWhenHeard.length > 0);
    expect(knownWhenHeard).toEqual([undefined]);
  });

  it('is known no more when news may have been missed', async () => {
    const { key, id } = await make();
    const ring = await ringThatKnows(key);
    const subscriber = connect();
    await ring.listen(new ConnectionSubscriptions(subscriber));
    await ring.authenticate(key);
    await store.redis.hdel(store.keys.apiKeys, id); // As revoked, but nobody is told.
    expect(ring.cached(key)).toBeDefined();
    subscriber.disconnect(true);
    await until(() => ring.cached(key) === undefined);
    expect(await ring.authenticate(key)).toBeNull();
  });

  it('is known no more once Redis said of its id that it is invalid', async () => {
    const { key, id } = await make();
    const ring = await ringThatKnows(key);
    await revokeKey(store, id);
    expect(ring.cached(key)).toBeDefined();
    expect(await ring.invalidOf([id])).toEqual([id]);
    expect(ring.cached(key)).toBeUndefined();
  });

  it('is known no longer than it is valid', async () => {
    const { key } = await make(new Date(Date.now() + 3_000).toISOString());
    const ring = await ringThatKnows(key);
    await until(() => ring.cached(key) === undefined);
    // Redis was asked a moment after the time was counted from, and may believe it for a moment more.
    await until(async () => (await ring.authenticate(key)) === null);
    expect(ring.cached(key)).toBeUndefined();
  });

  it('is known no longer than it is believed', async () => {
    const { key } = await make();
    const ring = new Authenticator(store, { cacheMs: 100 });
    await ring.authenticate(key);
    await until(() => ring.cached(key) === undefined);
    expect(await ring.authenticate(key)).not.toBeNull();
  });

  it('gives way to newer ones when there are more than the capacity', async () => {
    const [first, second, third] = [(await make()).key, (await make()).key, (await make()).key];
    const ring = await ringThatKnows(first, { capacity: 2 });
    await ring.authenticate(second);
    await ring.authenticate(third);
    const isKnown = [first, second, third].map((key) => ring.cached(key) !== undefined);
    expect(isKnown).toEqual([false, true, true]);
  });

  it('does not make another text known, before or after', async () => {
    const { key } = await make();
    const wrong = [`${key.slice(0, -1)}x`, `${key}0`, key.slice(0, -1), ` ${key}`, key.toUpperCase(), ''];
    const ring = new Authenticator(store, { cacheMs: HOUR });
    const found = () => Promise.all(wrong.map((text) => ring.authenticate(text)));
    const known = () => wrong.map((text) => ring.cached(text));
    for (const isRightKnown of [false, true]) {
      expect(await found()).toEqual(wrong.map(() => null));
      expect(known()).toEqual(wrong.map(() => undefined));
      expect(ring.cached(key) !== undefined).toBe(isRightKnown);
      await ring.authenticate(key);
    }
  });
});

it('ADMIN_API_KEY is known from the start, and no other text as it', async () => {
  const adminKey = 'admin-key-of-the-tests-of-yardmaster';
  const ring = new Authenticator(store, { adminKey });
  expect(ring.cached(adminKey)).toEqual(await ring.authenticate(adminKey));
  expect([`${adminKey} `, adminKey.slice(1), '', 'admin'].map((text) => ring.cached(text))).toEqual(
    Array.from({ length: 4 }, () => undefined),
  );
  expect(new Authenticator(store, { adminKey: '' }).cached('')).toBeUndefined();
});

describe('the cache', () => {
  const entry = (): Entry => ({
    stored: {} as Entry['stored'],
    principal: { keyId: 'x', grants: new Set(), spaceId: null },
    until: Number.POSITIVE_INFINITY,
  });

  it('does not find by its text what has gone while it was looked at', () => {
    const cache = new KeyCache(10);
    const [before, after] = [entry(), entry()];
    cache.set('a', before);
    cache.delete('a');
    cache.confirm('a', before, 'text');
    expect(cache.ofText('text')).toBeUndefined();
    cache.set('a', after);
    cache.confirm('a', before, 'text');
    expect(cache.ofText('text')).toBeUndefined();
  });

  it('forgets the text of an entry with the entry', () => {
    const cache = new KeyCache(2);
    const known = (id: string) => {
      const one = entry();
      cache.set(id, one);
      cache.confirm(id, one, `text of ${id}`);
    };
    const texts = () => ['a', 'b', 'c'].filter((id) => cache.ofText(`text of ${id}`));
    known('a');
    known('b');
    known('c');
    expect(texts()).toEqual(['b', 'c']);
    cache.set('b', entry());
    expect(texts()).toEqual(['c']);
    cache.delete('c');
    expect(texts()).toEqual([]);
    known('a');
    cache.clear();
    expect(texts()).toEqual([]);
  });
});
