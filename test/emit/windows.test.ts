import { expect, it } from '@jest/globals';
import { fsck } from '@yardmaster/fsck';
import { createJobRequest } from '@yardmaster/protocol';
import {
  ANY_SPACE,
  claimJob,
  createJob,
  expireDue,
  markStep,
  partitionOfJob,
  pollJobs,
  redisNow,
  reopenWindows,
} from '@yardmaster/store';
import { storeUnderTest, withConnection } from '../store/store-under-test.js';

// The delivery window with COMPAT=emit: as long as the execution window of the job.

const redis = withConnection();
const { store } = storeUnderTest(redis, { deliveryTimeoutMs: 0 });
const SECONDS = 7_000;

const create = async () =>
  (await createJob(store, 'windows', createJobRequest.parse({ name: 'work', timeoutSeconds: SECONDS }))).job.id;

/** Deliver a new job, and return its id and its partition. */
async function deliver() {
  const id = await create();
  await claimJob(store, ANY_SPACE, id);
  return { id, partition: partitionOfJob(id) };
}

const deliveredAt = async (id: string) => Number(await redis.hget(store.keys.job(id), 'deliveredAt'));
const deadlineOf = async (id: string) => Number(await redis.zscore(store.keys.deadlines(partitionOfJob(id)), id));
const windowOf = async (id: string) => (await deadlineOf(id)) - (await deliveredAt(id));
const setDeadline = (id: string, at: number) => redis.zadd(store.keys.deadlines(partitionOfJob(id)), at, id);

it('the delivery window is the timeoutSeconds of the job after a poll and a claim', async () => {
  const polled = await create();
  await pollJobs(store, 'windows', { count: 1, names: [] });
  const { id: claimed } = await deliver();
  expect([await windowOf(polled), await windowOf(claimed)]).toEqual([SECONDS * 1_000, SECONDS * 1_000]);
});

it('a clock step that ends the delivery window early reopens it in full', async () => {
  const { id, partition } = await deliver();
  const now = await redisNow(store);
  await setDeadline(id, now - 1);
  await markStep(store, partition, now - SECONDS * 500);
  expect(await expireDue(store, partition, await redisNow(store))).toMatchObject({ reopened: 1, redelivered: 0 });
  expect((await deadlineOf(id)) - now).toBeGreaterThanOrEqual(SECONDS * 1_000);
});

it('a clock step backward reopens the delivery window in full', async () => {
  const { id, partition } = await deliver();
  const now = await redisNow(store);
  const ahead = now + 3_600_000_000;
  await redis.hset(store.keys.job(id), 'deliveredAt', ahead);
  await setDeadline(id, ahead + SECONDS * 1_000);
  expect(await reopenWindows(store, partition)).toBe(1);
  const left = (await deadlineOf(id)) - now;
  expect([left >= SECONDS * 1_000, left < 3_600_000_000]).toEqual([true, true]);
});

it('fsck restores a lost deadline with the timeoutSeconds of the job', async () => {
  const { id, partition } = await deliver();
  await redis.zrem(store.keys.deadlines(partition), id);
  const kinds: string[] = [];
  await fsck(store, { isRepairing: true, onFault: ({ kind, jobId }) => void (jobId === id && kinds.push(kind)) });
  expect(kinds).toEqual(['deadline_missing']);
  expect(await windowOf(id)).toBe(SECONDS * 1_000);
});
