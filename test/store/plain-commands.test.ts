import { beforeEach, expect, it } from '@jest/globals';
import {
  checkFormat,
  createStore,
  FORMAT,
  FormatError,
  hasClaimable,
  markFormat,
  readSpaceOf,
  readStatus,
  type Store,
} from '@yardmaster/store';
import type { Redis } from 'ioredis';
import RedisMock from 'ioredis-mock';

// TypeScript around single commands of Redis. What scripts do is tested on a real Redis.

const JOB = `00${'a'.repeat(26)}`;
let redis: Redis;
let store: Store;
beforeEach(async () => {
  redis = new RedisMock() as Redis;
  await redis.flushall();
  store = createStore(redis);
});

it('marks stored data once, and accepts its own mark', async () => {
  expect(await checkFormat(store)).toBe(false);
  for (let n = 0; n < 2; n++) await markFormat(store);
  expect(await redis.hgetall(store.keys.meta)).toEqual({ partitions: '64', format: FORMAT });
  expect(await checkFormat(store)).toBe(true);
});

it.each([
  [{ partitions: '32', format: FORMAT }, 'Redis contains jobs in 32 partitions; this version uses 64'],
  [{ partitions: '64', format: '2' }, `Redis contains jobs in format 2; this version uses ${FORMAT}`],
  [{ partitions: '64' }, `Redis contains jobs in format unknown; this version uses ${FORMAT}`],
])('refuses stored data whose layout is %j, and does not overwrite the mark', async (layout, error) => {
  await redis.hset(store.keys.meta, layout);
  await expect(checkFormat(store)).rejects.toThrow(new FormatError(error));
  await markFormat(store);
  expect(await redis.hgetall(store.keys.meta)).toMatchObject(layout);
});

it('reads status and space of a job, and null for an unknown job', async () => {
  expect([await readStatus(store, JOB), await readSpaceOf(store, JOB)]).toEqual([null, null]);
  await redis.hset(store.keys.job(JOB), { state: 'running 1 1 0 3 5 3 300 - demo a name' });
  expect([await readStatus(store, JOB), await readSpaceOf(store, JOB)]).toEqual(['running', 'demo']);
  expect(await readSpaceOf(store, 'no id')).toBeNull();
});

it('looks for claimable jobs in the queue of the space, or of more names than one command takes', async () => {
  const names = Array.from({ length: 1_001 }, (_, n) => `name-${n}`);
  expect([await hasClaimable(store, 'demo', []), await hasClaimable(store, 'demo', names)]).toEqual([false, false]);
  await redis.zadd(store.keys.queueOf('demo', 'name-1000'), 1, JOB);
  expect([await hasClaimable(store, 'demo', []), await hasClaimable(store, 'demo', names)]).toEqual([false, true]);
  await redis.zadd(store.keys.queue('demo'), 1, JOB);
  expect(await hasClaimable(store, 'demo', [])).toBe(true);
});
