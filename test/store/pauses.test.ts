import { beforeEach, expect, it } from '@jest/globals';
import { createJobRequest } from '@yardmaster/protocol';
import {
  ANY_SPACE,
  claimJob,
  createJob,
  createStore,
  findDue,
  partitionOf,
  pauseSpace,
  pollJobs,
  requeueResumed,
  resumeSpace,
  type Store,
} from '@yardmaster/store';
import { fsckUnprepared, storeUnderTest, withConnection } from './store-under-test.js';

// No scheduler runs: each step is made here, as any process could make it.

const redis = withConnection();
const SPACE = 'paused';
const PARTITION = partitionOf(SPACE);
let store: Store;
let prefix: string;
beforeEach(() => {
  ({ store, prefix } = storeUnderTest(redis));
});

const create = async (name: string, fields = {}) =>
  (await createJob(store, SPACE, createJobRequest.parse({ name, ...fields }))).job.id;
const many = (name: string, count: number, fieldsOf: (n: number) => object = () => ({})) =>
  Promise.all(Array.from({ length: count }, (_, n) => create(name, fieldsOf(n))));
const queue = () => redis.zrange(store.keys.queue(SPACE), 0, -1, 'WITHSCORES');
const size = () => redis.zcard(store.keys.queue(SPACE));
const isDue = async () => (await findDue(store)).pauses;
/** Make a step of a process that is killed afterwards. */
const tend = () => requeueResumed(createStore(redis, { keyPrefix: prefix }), PARTITION);
/** Make steps until none is due, and return the sizes of the queue between them. */
async function tendAll(): Promise<number[]> {
  const sizes = [await size()];
  for (let isMore = true; isMore; sizes.push(await size())) ({ isMore } = await tend());
  return sizes;
}
const paused = { names: ['slow'] };

it('a poll reads 100 paused jobs more than it asks for, and reports whether there are more', async () => {
  const poll = async () => {
    const { jobs, isMore } = await pollJobs(store, SPACE, { count: 2, names: [] });
    return [jobs.length, isMore, await size()];
  };
  await many('slow', 250);
  await many('fast', 3);
  await pauseSpace(store, SPACE, paused);
  expect([await poll(), await poll(), await poll(), await poll(), await poll()]).toEqual([
    [0, true, 151],
    [0, true, 49],
    [2, false, 1],
    [1, false, 0],
    [0, false, 0],
  ]);
});

it('the sweep takes jobs with a paused name out of the queue of the space in steps of 100', async () => {
  await many('slow', 250);
  await many('fast', 3);
  expect(await isDue()).toEqual([]);
  await pauseSpace(store, SPACE, paused);
  expect(await isDue()).toEqual([PARTITION]);
  expect(await tendAll()).toEqual([253, 153, 53, 3]);
  expect(await fsckUnprepared(store)).toEqual([]);
  expect((await pollJobs(store, SPACE, { count: 50, names: [] })).jobs).toHaveLength(3);
  expect(await redis.zcard(`${store.keys.queue(SPACE)}/slow`)).toBe(250);
});

it('the sweep returns jobs with a resumed name to their places in steps of 100, which any process can continue', async () => {
  // Jobs at one place: each was created a second after the previous one, and has a second less of head start.
  await many('slow', 250, (n) => ({ priority: n % 5 }));
  await many('fast', 3);
  const before = await queue();
  await pauseSpace(store, SPACE, paused);
  await tendAll();
  await resumeSpace(store, SPACE, paused);
  expect(await size()).toBe(103); // The first step is part of the resume.
  expect(await fsckUnprepared(store)).toEqual([]);
  expect(await tend()).toMatchObject({ isMore: true });
  await Promise.all([tend(), tend(), tend()]);
  expect(await queue()).toEqual(before);
  expect(await redis.exists(store.keys.paused(SPACE), store.keys.pauses(PARTITION))).toBe(0);
  expect(await isDue()).toEqual([]);
});

it('the sweep continues past more jobs in one place than a step reads', async () => {
  const ids = await many('slow', 130);
  const places = ids.flatMap((id) => [5_000, id]);
  for (const key of [store.keys.queue(SPACE), `${store.keys.queue(SPACE)}/slow`]) await redis.zadd(key, ...places);
  const last = await create('slow');
  await pauseSpace(store, SPACE, paused);
  await tendAll();
  await resumeSpace(store, SPACE, paused);
  await tendAll();
  expect(await redis.zscore(store.keys.queue(SPACE), last)).not.toBeNull();
  expect(await redis.exists(store.keys.paused(SPACE))).toBe(0);
});

it('the sweep restarts when a name is paused and resumed while its jobs are being returned', async () => {
  const ids = await many('slow', 250);
  const before = await queue();
  await pauseSpace(store, SPACE, paused);
  await tendAll();
  await resumeSpace(store, SPACE, paused);
  await tend();
  await pauseSpace(store, SPACE, paused);
  expect(await claimJob(store, ANY_SPACE, ids[0] as string)).toMatchObject({ claimed: false, reason: 'paused' });
  expect((await pollJobs(store, SPACE, { count: 50, names: [] })).jobs).toEqual([]);
  await resumeSpace(store, SPACE, paused);
  await tendAll();
  expect(await queue()).toEqual(before);
});

it('the sweep later looks again for new jobs with a paused name', async () => {
  await pauseSpace(store, SPACE, paused);
  await tendAll();
  expect(await isDue()).toEqual([]);
  await many('slow', 3);
  await redis.zadd(store.keys.pauses(PARTITION), 1, SPACE); // as if that time had come
  expect(await tendAll()).toEqual([3, 0]);
});

it('the sweep leaves the queue of a paused space unchanged', async () => {
  await many('slow', 3);
  await pauseSpace(store, SPACE, paused);
  await pauseSpace(store, SPACE, { names: null });
  expect(await tendAll()).toEqual([3, 3]);
  await resumeSpace(store, SPACE, { names: null });
  expect((await pollJobs(store, SPACE, { count: 50, names: [] })).jobs).toHaveLength(3);
});

it('the sweep serves the spaces of a partition in turn', async () => {
  let other = 'other';
  for (let n = 0; partitionOf(other) !== PARTITION; n++) other = `other-${n}`;
  await many('slow', 250);
  await createJob(store, other, createJobRequest.parse({ name: 'slow' }));
  for (const space of [SPACE, other]) await pauseSpace(store, space, paused);
  await tend();
  await tend();
  expect(await redis.zcard(store.keys.queue(other))).toBe(0);
});

it('a poll finds a job behind more jobs with paused names than one step takes out', async () => {
  await many('slow', 130);
  const other = await create('fast');
  await pauseSpace(store, SPACE, paused);
  const polls = [
    (await pollJobs(store, SPACE, { count: 1, names: [] })).jobs,
    (await pollJobs(store, SPACE, { count: 1, names: [] })).jobs,
  ];
  expect(polls.flat().map(({ id }) => id)).toEqual([other]);
  expect(await fsckUnprepared(store)).toEqual([]);
});

it('a poll takes jobs with paused names out of the queue even if it claims many others', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 60; n++) {
    await create('slow');
    ids.push(await create('fast'));
  }
  await pauseSpace(store, SPACE, paused);
  const { jobs: claimed } = await pollJobs(store, SPACE, { count: 50, names: [] });
  expect(claimed.map(({ id }) => id)).toEqual(ids.slice(0, 50));
  expect(await fsckUnprepared(store)).toEqual([]);
});
