import { randomUUID } from 'node:crypto';
import { afterEach, expect, it } from '@jest/globals';
import { createJobRequest } from '@yardmaster/protocol';
import {
  ANY_SPACE,
  createJob,
  createStore,
  deleteJob,
  flushHistory,
  getHistory,
  killJob,
  SpaceHistoryCounter,
  type Store,
} from '@yardmaster/store';
import { connectTo } from '../support/connect.js';
import { withRedis } from '../support/own-redis.js';
import { totalOf } from './recount.js';

const redis = withRedis();
const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** Open a store whose space `demo` has a job, on a prefix of its own unless one is given. */
async function openStore(
  keyPrefix = `t-${randomUUID().slice(0, 8)}`,
): Promise<Store & { counter: SpaceHistoryCounter }> {
  const connection = connectTo(redis.url);
  open.push(() => connection.disconnect());
  const store = createStore(connection, { keyPrefix });
  await createJob(store, 'demo', createJobRequest.parse({ name: 'work' }));
  return { ...store, counter: new SpaceHistoryCounter() };
}

const add = ({ counter }: { counter: SpaceHistoryCounter }, name = 'work', spaceId = 'demo') =>
  counter.add({ from: 'none', to: 'pending', spaceId, name });

const RANGE = { from: null, to: null, step: 60 } as const;
async function shownBy(store: Store, spaceId = 'demo') {
  return totalOf((await getHistory(store, ANY_SPACE, spaceId, RANGE)).points);
}
const createdBy = async (store: Store) => (await shownBy(store)).work?.created ?? 0;

it('adds counts to the history once when their flush is repeated after a lost reply', async () => {
  const store = await openStore();
  add(store);
  await flushHistory(store, store.counter); // Redis knows the script from now on.
  const evalsha = store.redis.evalsha.bind(store.redis);
  let lost = 3;
  store.redis.evalsha = (async (...args: Parameters<typeof evalsha>) => {
    const reply = await evalsha(...args);
    if (lost-- > 0) throw new Error('Command timed out');
    return reply;
  }) as unknown as typeof store.redis.evalsha;
  for (let flush = 0; flush < 4; flush++) {
    add(store);
    const { faults } = await flushHistory(store, store.counter);
    expect(faults).toHaveLength(flush < 3 ? 1 : 0);
  }
  expect(await createdBy(store)).toBe(5);
  expect(store.counter.cells).toBe(0);
});

it('keeps counts for the history while Redis is full, and adds them later', async () => {
  const store = await openStore();
  add(store);
  expect((await flushHistory(store, store.counter)).faults).toEqual([]);
  await store.redis.config('SET', 'maxmemory', '1mb');
  add(store);
  const { faults } = await flushHistory(store, store.counter);
  expect(faults).toMatchObject([{ code: 'STORAGE_FULL' }]);
  add(store);
  await flushHistory(store, store.counter);
  await store.redis.config('SET', 'maxmemory', '0');
  expect(await createdBy(store)).toBe(1);
  expect((await flushHistory(store, store.counter)).faults).toEqual([]);
  expect(await createdBy(store)).toBe(3);
});

it('counts names beyond the first 100 of a space together in the history, within one process and across several', async () => {
  const store = await openStore();
  const other = await openStore(store.settings.keyPrefix);
  for (let n = 0; n < 150; n++) {
    add(store, `a${n}`);
    add(other, `b${n}`);
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

it('reports lost history counts beyond 10,000 pairs of space and name, and keeps the others', async () => {
  const store = await openStore();
  for (let n = 0; n < 10_010; n++) add(store, 'work', `space-${n}`);
  for (const space of ['space-9999', 'space-10005']) await store.redis.zadd(store.keys.jobs(space), 1, 'a job');
  expect(store.counter.cells).toBe(10_000);
  const first = await flushHistory(store, store.counter);
  expect(first).toEqual({ hasLost: true, faults: [] });
  expect(store.counter.cells).toBe(0);
  expect((await shownBy(store, 'space-9999')).work?.created).toBe(1);
  expect(await shownBy(store, 'space-10005')).toEqual({});
  expect(await flushHistory(store, store.counter)).toEqual({ hasLost: false, faults: [] });
});

it('keeps minutes of the history for 48 hours and hours for 35 days', async () => {
  const store = await openStore();
  add(store);
  await flushHistory(store, store.counter);
  const keys = await store.redis.keys(`${store.settings.keyPrefix}:*history/*/*`);
  const kept = await Promise.all(keys.map(async (key) => [key.split('/').at(-2), await store.redis.ttl(key)] as const));
  const ttl = Object.fromEntries(kept);
  expect(ttl['60']).toBeGreaterThan(47 * 3_600);
  expect(ttl['60']).toBeLessThanOrEqual(48 * 3_600);
  expect(ttl['3600']).toBeGreaterThan(34 * 86_400);
  expect(ttl['3600']).toBeLessThanOrEqual(35 * 86_400);
});

const keysOf = (store: Store) => store.redis.keys(`${store.settings.keyPrefix}:*history*`);

it('keeps the newest history of a space within 8 MB, and at most 100 names in it', async () => {
  const store = await openStore();
  const { counter, redis: connection } = store;
  let at = performance.now() - 300 * 61_000;
  for (let n = 0; n < 300; n++) {
    counter.close(at); // Nothing was counted before.
    at += 61_000;
    for (let name = 0; name < 100; name++) {
      const event = { from: 'delivered', to: 'pending', by: 'timeout', spaceId: 'demo' } as const;
      const longName = `${name + (n % 2) * 50}`.padEnd(128, 'x');
      for (let ms = 10; ms < 1e8; ms *= 4) counter.add({ ...event, name: longName, waitMs: ms, runMs: ms });
    }
    counter.close(at);
    if (n % 100 === 99) expect((await flushHistory(store, counter)).faults).toEqual([]);
  }
  const used = await Promise.all((await keysOf(store)).map((key) => connection.memory('USAGE', key, 'SAMPLES', 0)));
  const all = used.reduce((sum: number, bytes) => sum + Number(bytes), 0);
  expect([all > 6e6, all < 8.7e6]).toEqual([true, true]);
  const { points } = await getHistory(store, ANY_SPACE, 'demo', { from: null, to: null, step: 60 });
  expect(points.length).toBeGreaterThan(50);
  const names = new Set(points.flatMap((point) => Object.keys(point.names)));
  expect(names.size).toBe(101);
});

it('removes the history of a space with its last job and adds nothing afterwards', async () => {
  const store = await openStore();
  const [id = ''] = await store.redis.zrange(store.keys.jobs('demo'), 0, 0);
  add(store);
  await flushHistory(store, store.counter);
  expect(await keysOf(store)).toHaveLength(4);
  add(store);
  await killJob(store, ANY_SPACE, id, null);
  await deleteJob(store, ANY_SPACE, id);
  expect(await keysOf(store)).toEqual([]);
  expect((await flushHistory(store, store.counter)).faults).toEqual([]);
  expect(await keysOf(store)).toEqual([]);
});
