import { expect, it } from '@jest/globals';
import { pollJobs } from '@yardmaster/store';
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
