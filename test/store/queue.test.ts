import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ANY_SPACE, ackJob, claimJob, failJob, pollJobs, redisNow } from '@yardmaster/store';
import { connections, type OwingStore, owingStore } from './owing.js';

const { each, quit } = connections();
afterAll(quit);

describe.each(each)('the queue on %s', (name, redis) => {
  let owing: OwingStore;
  beforeEach(() => {
    owing = owingStore(redis);
  });

  const spaces = () => owing.store.keys.spaces(owing.store.keys.baseOfSpace('owing').slice(-4, -2));
  const orderOf = async (id: string) => Number(await redis.hget(owing.store.keys.job(id), 'order'));

  it('has each job behind the one before, at the time of its creation', async () => {
    const before = await redisNow(owing.store);
    const ids: string[] = [];
    for (let i = 0; i < 50; i++) ids.push(await owing.create());
    const orders = await Promise.all(ids.map(orderOf));
    expect(orders).toEqual([...new Set(orders)].sort((a, b) => a - b));
    expect(Math.floor((orders[0] as number) / 1024)).toBeGreaterThanOrEqual(before);
    // The mock has no clock that is finer than the code in between.
    if (name !== 'ioredis-mock') expect((orders[49] as number) / 1024).toBeLessThan((await redisNow(owing.store)) + 1);
  });

  it('has each job behind the one before while the clock is behind the last of them', async () => {
    const ahead = ((await redisNow(owing.store)) + 60_000) * 1024;
    await redis.zadd(spaces(), ahead, 'owing');
    const ids = [await owing.create(), await owing.create({ maxRetries: 1 }), await owing.create()];
    expect(await Promise.all(ids.map(orderOf))).toEqual([ahead + 1, ahead + 2, ahead + 3]);
    const failed = ids[1] as string;
    await claimJob(owing.store, ANY_SPACE, failed);
    await ackJob(owing.store, ANY_SPACE, failed);
    await failJob(owing.store, ANY_SPACE, failed, 'again');
    expect(await redis.zscore(owing.store.keys.queue('owing'), failed)).toBe(String(ahead + 4));
    expect(await redis.zscore(spaces(), 'owing')).toBe(String(ahead + 4));
  });

  it.each([
    ['any name', [], 'queue'],
    ['one name', ['work'], 'queue/work'],
    ['several names', ['work', 'other'], 'queue/work'],
  ])('gives up an entry without a job to a poll for %s, and hands out what is behind it', async (_, names, index) => {
    const queue = owing.store.keys.queue('owing').replace(/queue$/, index);
    const entries = Array.from({ length: 3 }, (__, i) => [i, `gone${i}`]).flat() as (string | number)[];
    await redis.zadd(queue, ...entries);
    const ids = [await owing.create(), await owing.create()];
    expect(await pollJobs(owing.store, 'owing', { count: 1, names })).toMatchObject([{ id: ids[0] }]);
    expect(await pollJobs(owing.store, 'owing', { count: 5, names })).toMatchObject([{ id: ids[1] }]);
    expect(await pollJobs(owing.store, 'owing', { count: 5, names })).toEqual([]);
    for (const key of [owing.store.keys.queue('owing'), `${owing.store.keys.queue('owing')}/work`]) {
      expect(await redis.zcard(key)).toBe(0);
    }
  });
});
