import { randomUUID } from 'node:crypto';
import { afterEach, expect, it } from '@jest/globals';
import { ANY_SPACE, createStore, flushHistory, getHistory, SpaceHistoryCounter, type Store } from '@yardmaster/store';
import { connectTo } from '../support/connect.js';
import { withRedis } from '../support/own-redis.js';
import { totalOf } from './recount.js';

const redis = withRedis();
const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** Open a store, on a prefix of its own unless one is given. */
function openStore(keyPrefix = `t-${randomUUID().slice(0, 8)}`): Store & { counter: SpaceHistoryCounter } {
  const connection = connectTo(redis.url);
  open.push(() => connection.disconnect());
  const counter = new SpaceHistoryCounter();
  return { ...createStore(connection, { keyPrefix }), counter };
}

const RANGE = { from: null, to: null, step: 60 } as const;
async function shownBy(store: Store, spaceId = 'demo') {
  return totalOf((await getHistory(store, ANY_SPACE, spaceId, RANGE)).points);
}
const createdBy = async (store: Store) => (await shownBy(store)).work?.created ?? 0;

it('adds a step of the history once when its flush is repeated because its reply was lost', async () => {
  const store = openStore();
  store.counter.add({ from: 'none', to: 'pending', spaceId: 'demo', name: 'work' });
  await flushHistory(store, store.counter); // Redis knows the script from now on.
  const evalsha = store.redis.evalsha.bind(store.redis);
  let lost = 3;
  store.redis.evalsha = (async (...args: Parameters<typeof evalsha>) => {
    const reply = await evalsha(...args);
    if (lost-- > 0) throw new Error('Command timed out');
    return reply;
  }) as unknown as typeof store.redis.evalsha;
  for (let flush = 0; flush < 4; flush++) {
    store.counter.add({ from: 'none', to: 'pending', spaceId: 'demo', name: 'work' });
    const { faults } = await flushHistory(store, store.counter);
    expect(faults).toHaveLength(flush < 3 ? 1 : 0);
  }
  expect(await createdBy(store)).toBe(5);
  expect(store.counter.cells).toBe(0);
});

it('keeps the counts of the history while Redis is full, and adds them later', async () => {
  const store = openStore();
  store.counter.add({ from: 'none', to: 'pending', spaceId: 'demo', name: 'work' });
  expect((await flushHistory(store, store.counter)).faults).toEqual([]);
  await store.redis.config('SET', 'maxmemory', '1mb');
  store.counter.add({ from: 'none', to: 'pending', spaceId: 'demo', name: 'work' });
  const { faults } = await flushHistory(store, store.counter);
  expect(faults).toMatchObject([{ code: 'STORAGE_FULL' }]);
  store.counter.add({ from: 'none', to: 'pending', spaceId: 'demo', name: 'work' });
  await flushHistory(store, store.counter);
  await store.redis.config('SET', 'maxmemory', '0');
  expect(await createdBy(store)).toBe(1);
  expect((await flushHistory(store, store.counter)).faults).toEqual([]);
  expect(await createdBy(store)).toBe(3);
});

it('counts names beyond the first 100 of a space together in the history, in one process and in several', async () => {
  const store = openStore();
  const other = openStore(store.settings.keyPrefix);
  for (let n = 0; n < 150; n++) {
    store.counter.add({ from: 'none', to: 'pending', spaceId: 'demo', name: `a${n}` });
    other.counter.add({ from: 'none', to: 'pending', spaceId: 'demo', name: `b${n}` });
  }
  expect(store.counter.cells).toBe(101);
  await flushHistory(store, store.counter);
  await flushHistory(other, other.counter);
  const shown = await shownBy(store);
  const created = Object.values(shown).reduce((sum, counts) => sum + counts.created, 0);
  expect({ created, names: Object.keys(shown).length }).toEqual({ created: 300, names: expect.any(Number) });
  // A new minute may begin between the two flushes.
  if (Object.keys(shown).length === 101) expect(shown['*']?.created).toBe(200);
});

it('reports that counts of the history are lost beyond 10,000 pairs of space and name, and keeps the others', async () => {
  const store = openStore();
  for (let n = 0; n < 10_010; n++)
    store.counter.add({ from: 'none', to: 'pending', spaceId: `space-${n}`, name: 'work' });
  expect(store.counter.cells).toBe(10_000);
  const first = await flushHistory(store, store.counter);
  expect(first).toEqual({ hasLost: true, faults: [] });
  expect(store.counter.cells).toBe(0);
  expect((await shownBy(store, 'space-9999')).work?.created).toBe(1);
  expect(await shownBy(store, 'space-10005')).toEqual({});
  expect(await flushHistory(store, store.counter)).toEqual({ hasLost: false, faults: [] });
});

it('keeps minutes of the history for 48 hours and hours for 35 days', async () => {
  const store = openStore();
  store.counter.add({ from: 'none', to: 'pending', spaceId: 'demo', name: 'work' });
  await flushHistory(store, store.counter);
  const keys = await store.redis.keys(`${store.settings.keyPrefix}:*history*`);
  const kept = await Promise.all(keys.map(async (key) => [key.split('/').at(-2), await store.redis.ttl(key)] as const));
  const ttl = Object.fromEntries(kept);
  expect(ttl['60']).toBeGreaterThan(47 * 3_600);
  expect(ttl['60']).toBeLessThanOrEqual(48 * 3_600);
  expect(ttl['3600']).toBeGreaterThan(34 * 86_400);
  expect(ttl['3600']).toBeLessThanOrEqual(35 * 86_400);
});
