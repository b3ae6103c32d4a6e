import { describe, expect, it, jest } from '@jest/globals';
import { createJobRequest, pollRequest } from '@yardmaster/protocol';
import { ANY_SPACE, claimJob, createJob, pollJobs, redisNow } from '@yardmaster/store';
import { keysOf } from '../support/fsck.js';
import { storeUnderTest, withConnection } from './store-under-test.js';

const redis = withConnection();

it.each([
  ['any name', [], 'queue'],
  ['one name', ['work'], 'queue/work'],
  ['several names', ['work', 'other'], 'queue/work'],
])('a poll for %s drops queue entries without a job, and returns the jobs behind them', async (_, names, index) => {
  const { store, create } = storeUnderTest(redis);
  const queue = store.keys.queue('calling').replace(/queue$/, index);
  await redis.zadd(queue, 0, 'gone0', 1, 'gone1', 2, 'gone2');
  const ids = [await create(), await create()];
  expect((await pollJobs(store, 'calling', { count: 1, names })).jobs).toMatchObject([{ id: ids[0] }]);
  expect((await pollJobs(store, 'calling', { count: 5, names })).jobs).toMatchObject([{ id: ids[1] }]);
  expect((await pollJobs(store, 'calling', { count: 5, names })).jobs).toEqual([]);
  for (const key of [store.keys.queue('calling'), `${store.keys.queue('calling')}/work`])
    expect(await redis.zcard(key)).toBe(0);
});

const SPACE = 'late';

/** Make a store with a pending job, whose clock differs from that of Redis by this many milliseconds. */
async function clockOffBy(ms: number) {
  const { store, prefix, create } = storeUnderTest(redis, { redisTimeoutMs: 60_000 }); // Longer than any reply takes.
  const id = await create({}, SPACE);
  const ahead = (await redisNow(store)) - performance.now() + ms;
  const after = (inMs: number) => Math.floor(ahead + performance.now() + inMs);
  const clock = { after, reportTooLate: jest.fn<(earlyMs: number) => void>() };
  const clocked = { ...store, known: { ...store.known, clock } };
  const calls = {
    create: () => createJob(clocked, SPACE, createJobRequest.parse({ name: 'work' })),
    poll: async () => (await pollJobs(clocked, SPACE, pollRequest.parse({}))).jobs,
    claim: () => claimJob(clocked, ANY_SPACE, id),
  };
  const contents = async () => {
    const keys = (await keysOf(redis, prefix)).sort();
    return Promise.all(keys.map(async (key) => [key, await redis.dumpBuffer(key)]));
  };
  return { clock, calls, contents };
}

describe.each(['create', 'poll', 'claim'] as const)('store call %s with a deadline', (name) => {
  it(`${name} changes nothing after its deadline, and distrusts the clock if the reply was fast`, async () => {
    const { clock, calls, contents } = await clockOffBy(-60_000);
    const before = await contents();
    await expect(calls[name]()).rejects.toMatchObject({ code: 'OVERLOADED' });
    expect(await contents()).toEqual(before);
    expect(clock.reportTooLate.mock.calls).toEqual([[expect.any(Number)]]);
    expect(clock.reportTooLate.mock.calls[0]?.[0]).toBeGreaterThan(0);
    expect(clock.reportTooLate.mock.calls[0]?.[0]).toBeLessThanOrEqual(48_000);
  });

  it(`${name} is executed before its deadline`, async () => {
    const { clock, calls, contents } = await clockOffBy(600_000);
    const before = await contents();
    await calls[name]();
    expect(await contents()).not.toEqual(before);
    expect(clock.reportTooLate).not.toHaveBeenCalled();
  });
});
