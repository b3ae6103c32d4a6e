import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createJobRequest } from '@yardmaster/protocol';
import { createJob, createStore, readBacklog, type Store } from '@yardmaster/store';
import type { Redis } from 'ioredis';
import { connectTo } from '../support/connect.js';
import { withRedis } from '../support/own-redis.js';

let redis: Redis;
let store: Store;
const server = withRedis();
beforeAll(async () => {
  redis = connectTo(server.url);
  store = createStore(redis);
});
afterAll(async () => {
  redis.disconnect();
});

const create = (spaceId: string) => createJob(store, spaceId, createJobRequest.parse({ name: 'work' }));

/** What one reading costs Redis, in calls of each command. */
async function callsOf(most: number): Promise<Record<string, number>> {
  await redis.config('RESETSTAT');
  await readBacklog(store, most);
  const stats = (await redis.info('commandstats')).matchAll(/^cmdstat_(\w+):calls=(\d+)/gm);
  return Object.fromEntries([...stats].map(([, command, calls]) => [command, Number(calls)]));
}

it('is empty where nothing is', async () => {
  expect(await readBacklog(store, 10)).toEqual({
    spaces: [],
    spacesLeftOut: 0,
    callbacksPending: 0,
    callbacksLateSeconds: 0,
  });
});

it('costs as many commands with 2 000 jobs as with 100', async () => {
  for (let n = 0; n < 100; n++) await create('many');
  const before = await callsOf(10);
  // Of 64 partitions: how many spaces, which of them last, how many callbacks, and when the first; of one space its queue.
  expect(before).toMatchObject({ zcard: 64 + 64 + 1, zrevrange: 64, zrange: 64 + 1, time: 1 });
  for (let n = 0; n < 2_000; n += 500) await Promise.all(Array.from({ length: 500 }, () => create('many')));
  expect(await readBacklog(store, 10)).toMatchObject({ spaces: [{ spaceId: 'many', pending: 2_100 }] });
  expect(await callsOf(10)).toEqual(before);
});

it('looks closely at four spaces for each one it may show, however many there are', async () => {
  for (let n = 0; n < 500; n++) await create(`space-${n}`);
  expect(await callsOf(5)).toMatchObject({ zcard: 64 + 64 + 20, zrevrange: 64, zrange: 64 + 5 });
  const { spaces, spacesLeftOut } = await readBacklog(store, 5);
  expect(spacesLeftOut).toBe(496);
  // Those of one millisecond are in any order.
  expect(spaces.map(({ spaceId }) => Number(spaceId.slice(6)) > 450)).toEqual([true, true, true, true, true]);
});

it('tells how many callbacks are owed, and for how long somebody should have looked at the first', async () => {
  const [seconds] = await redis.time();
  const at = (ago: number) => (Number(seconds) - ago) * 1_000;
  await redis.zadd(store.keys.callbacks('00'), at(60), 'a', at(-600), 'b');
  await redis.zadd(store.keys.callbacks('3f'), at(30), 'c');
  const { callbacksPending, callbacksLateSeconds } = await readBacklog(store, 0);
  expect(callbacksPending).toBe(3);
  expect(Math.floor(callbacksLateSeconds / 60)).toBe(1);
});
