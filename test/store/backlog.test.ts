import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { createJobRequest } from '@yardmaster/protocol';
import { ANY_SPACE, changeSettings, createJob, createStore, readBacklog, type Store } from '@yardmaster/store';
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
afterEach(async () => {
  await redis.flushdb();
});
afterAll(async () => {
  redis.disconnect();
});

const create = (spaceId: string, fields = {}) =>
  createJob(store, spaceId, createJobRequest.parse({ name: 'work', ...fields }));

/** Count the calls of each command for one read of the backlog. */
async function callsOf(most: number): Promise<Record<string, number>> {
  await redis.config('RESETSTAT');
  await readBacklog(store, most);
  const stats = (await redis.info('commandstats')).matchAll(/^cmdstat_(\w+):calls=(\d+)/gm);
  return Object.fromEntries([...stats].map(([, command, calls]) => [command, Number(calls)]));
}

it('reads an empty backlog when nothing is stored', async () => {
  expect(await readBacklog(store, 10)).toEqual({
    spaces: [],
    spacesLeftOut: 0,
    names: [],
    callbacksPending: 0,
    callbacksLateSeconds: 0,
  });
});

it('reads the backlog with as many commands for 2,000 jobs as for 100', async () => {
  for (let n = 0; n < 100; n++) await create('many');
  const before = await callsOf(10);
  // Per partition (64): number of spaces, latest spaces, number of callbacks, first callback; per space: its queue, its
  // scheduled jobs, and the priority of the next job.
  expect(before).toMatchObject({ zcard: 64 + 64 + 2, zrevrange: 64, zrange: 64 + 1, hget: 1, time: 1 });
  for (let n = 0; n < 2_000; n += 500) await Promise.all(Array.from({ length: 500 }, () => create('many')));
  expect(await readBacklog(store, 10)).toMatchObject({ spaces: [{ spaceId: 'many', pending: 2_100 }] });
  expect(await callsOf(10)).toEqual(before);
});

it('reads the queues of at most four spaces per space that it returns', async () => {
  for (let n = 0; n < 500; n++) await create(`space-${n}`);
  expect(await callsOf(5)).toMatchObject({ zcard: 64 + 64 + 20 + 5, zrevrange: 64, zrange: 64 + 5 });
  const { spaces, spacesLeftOut } = await readBacklog(store, 5);
  expect(spacesLeftOut).toBe(495);
  // Spaces of the same millisecond are in any order.
  expect(spaces.map(({ spaceId }) => Number(spaceId.slice(6)) > 450)).toEqual([true, true, true, true, true]);
});

it('counts scheduled jobs apart from pending ones, and bytes of a space with maxBytes', async () => {
  const delaySeconds = 3_600;
  for (let n = 0; n < 3; n++) await create('future', { delaySeconds });
  await changeSettings(store, ANY_SPACE, 'mixed', { maxBytes: 1e9 });
  await create('mixed', { delaySeconds });
  await create('mixed');
  const { spaces } = await readBacklog(store, 2);
  expect(spaces).toEqual([
    { spaceId: 'mixed', pending: 1, scheduled: 1, bytes: 1_816, oldestAgeSeconds: expect.any(Number) },
    { spaceId: 'future', pending: 0, scheduled: 3, bytes: null, oldestAgeSeconds: null },
  ]);
});

it.each([604_800, -604_800])('the age of the next job excludes its head start of %i s', async (priority) => {
  const spaceId = `priority-${priority}`;
  const { job } = await create(spaceId, { priority });
  await redis.zincrby(store.keys.queue(spaceId), -3_600_000 * 1_024, job.id);
  const { spaces } = await readBacklog(store, 1);
  expect(spaces.map((space) => [space.spaceId, Math.floor((space.oldestAgeSeconds ?? 0) / 3_600)])).toEqual([
    [spaceId, 1],
  ]);
});

it('reports how many callbacks are pending and how long the first has been overdue', async () => {
  const [seconds] = await redis.time();
  const at = (ago: number) => (Number(seconds) - ago) * 1_000;
  await redis.zadd(store.keys.callbacks('00'), at(60), 'a', at(-600), 'b');
  await redis.zadd(store.keys.callbacks('3f'), at(30), 'c');
  const { callbacksPending, callbacksLateSeconds } = await readBacklog(store, 0);
  expect(callbacksPending).toBe(3);
  expect(Math.floor(callbacksLateSeconds / 60)).toBe(1);
});
