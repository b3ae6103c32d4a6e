import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createJobRequest } from '@yardmaster/protocol';
import {
  ANY_SPACE,
  ackJob,
  completeJob,
  createJob,
  createStore,
  expireDue,
  failJob,
  getJob,
  heartbeatJob,
  killJob,
  PARTITION_TAGS,
  partitionOf,
  pollJobs,
  redisNow,
  type Store,
  type StoreSettings,
} from '@yardmaster/store';
import { fsck, keysOf } from '../support/fsck.js';
import { until } from '../support/until.js';
import { connections } from './owing.js';

const { each, quit } = connections();
afterAll(quit);

describe.each(each)('expiry on %s', (_name, redis) => {
  let prefix: string;
  beforeEach(() => {
    prefix = `t-${randomUUID().slice(0, 8)}`;
  });

  const storeWith = (settings: Partial<StoreSettings> = {}): Store =>
    createStore(redis, { keyPrefix: prefix, deliveryTimeoutMs: 60_000, ...settings });
  const create = (store: Store, fields = {}) =>
    createJob(store, 'due', createJobRequest.parse({ name: 'work', ...fields }));
  const poll = (store: Store) => pollJobs(store, 'due', { count: 50, names: [] });
  const run = async (store: Store, fields = {}) => {
    const { id } = await create(store, fields);
    await poll(store);
    await ackJob(store, ANY_SPACE, id);
    return id;
  };
  const expire = (store: Store) => expireDue(store, partitionOf('due'));
  const read = (store: Store, id: string) => getJob(store, ANY_SPACE, id);
  const typesOf = async (store: Store, id: string) => (await read(store, id)).events.map(({ type }) => type);
  /** Keys that hold something; ioredis-mock, unlike Redis, keeps sorted sets that have become empty. */
  const filledKeys = async () => {
    const keys = await keysOf(redis, prefix);
    const sizes = await Promise.all(
      keys.map(async (key) => ((await redis.type(key)) === 'zset' ? redis.zcard(key) : 1)),
    );
    return keys.filter((_, i) => sizes[i] !== 0);
  };
  const nothing = { isMore: false, redelivered: 0, timedOut: 0, purged: 0, lateMs: 0, broken: [] };

  it('puts a job that was not acked back to its old place in the queue', async () => {
    const store = storeWith({ deliveryTimeoutMs: 1 });
    const [first, second] = [await create(store), await create(store)];
    await pollJobs(store, 'due', { count: 1, names: [] });
    await until(async () => (await expire(store)).redelivered === 1);
    const job = await read(store, first.id);
    expect(job).toMatchObject({ status: 'pending', attemptNumber: 0, deliveredAt: null });
    expect(job.events.at(-1)).toMatchObject({ type: 'delivery_timeout', data: null });
    expect((await poll(store)).map(({ id }) => id)).toEqual([first.id, second.id]);
  });

  it('fails the attempt of a silent worker: retried while retries remain, then dead', async () => {
    const store = storeWith();
    const id = await run(store, { timeoutSeconds: 0.001, maxRetries: 1 });
    await until(async () => (await expire(store)).timedOut === 1);
    const error = 'Job timed out after 0.001 seconds without a heartbeat';
    expect(await read(store, id)).toMatchObject({ status: 'pending', deliveredAt: null, startedAt: null });
    expect((await read(store, id)).events.at(-1)).toMatchObject({ type: 'retried', data: { error, attemptNumber: 1 } });
    await poll(store);
    await ackJob(store, ANY_SPACE, id);
    await until(async () => (await expire(store)).timedOut === 1);
    expect((await read(store, id)).events.at(-1)).toMatchObject({ type: 'dead', data: { error } });
    expect(await read(store, id)).toMatchObject({ status: 'dead', attemptNumber: 2 });
    await expect(completeJob(store, ANY_SPACE, id, 1)).rejects.toMatchObject({ code: 'JOB_NOT_RUNNING' });
  });

  it('passes over a job whose record is broken, and comes back to it later', async () => {
    const store = storeWith();
    const [broken, whole] = [await run(store, { timeoutSeconds: 0.001 }), await run(store, { timeoutSeconds: 0.001 })];
    await redis.hset(store.keys.job(broken), 'maxRetries', 'many');
    await until(async () => (await redisNow(store)) > Date.parse((await read(store, whole)).startedAt as string) + 1);
    expect(await expire(store)).toMatchObject({ timedOut: 1, broken: [broken] });
    expect(await expire(store)).toEqual(nothing);
    expect(await typesOf(store, whole)).toContain('retried');
    const deadline = Number(await redis.zscore(store.keys.deadlines(partitionOf('due')), broken));
    expect(deadline).toBeGreaterThan((await redisNow(store)) + 30_000);
  });

  it('leaves alone what is not due, and what has given a sign of life', async () => {
    const store = storeWith({ retentionMs: 60_000 });
    await create(store);
    const id = await run(store, { timeoutSeconds: 60 });
    await redis.zadd(store.keys.deadlines(partitionOf('due')), 1, id);
    await heartbeatJob(store, ANY_SPACE, id, { kind: 'keepalive' });
    await killJob(store, ANY_SPACE, (await create(store)).id, null);
    expect(await expire(store)).toEqual(nothing);
    expect(await typesOf(store, id)).toEqual(['created', 'delivered', 'acked']);
  });

  it('never ends a window before its last millisecond is over', async () => {
    const store = storeWith();
    for (let round = 0; round < 5; round++) {
      await run(store, { timeoutSeconds: 0.02 });
      // Without a pause, so that a call falls into the very millisecond in which the window closes.
      let expired = await expire(store);
      while (expired.timedOut === 0) expired = await expire(store);
      expect(expired.lateMs).toBeGreaterThan(0);
    }
  });

  it('purges what has ended, with every key, and the space with its last job', async () => {
    const store = storeWith({ retentionMs: 1 });
    await completeJob(store, ANY_SPACE, await run(store), { ok: true });
    await failJob(store, ANY_SPACE, await run(store, { maxRetries: 0 }), 'broken');
    await killJob(store, ANY_SPACE, (await create(store)).id, 'enough');
    let purged = 0;
    await until(async () => {
      purged += (await expire(store)).purged;
      return purged === 3;
    });
    expect(await filledKeys()).toEqual([]);
  });

  it('keeps a job whose callback is owed', async () => {
    const store = storeWith({ retentionMs: 1 });
    const id = await run(store, { callbackUrl: 'https://example.com/hook' });
    await completeJob(store, ANY_SPACE, id, null);
    const deadlines = store.keys.deadlines(partitionOf('due'));
    await until(async () => {
      expect((await expire(store)).purged).toBe(0);
      return Number(await redis.zscore(deadlines, id)) > Date.now() + 30_000;
    });
    expect(await read(store, id)).toMatchObject({ status: 'completed' });
    await redis.zrem(`${store.keys.baseOf(partitionOf('due'))}callbacks`, id);
    await redis.zadd(deadlines, 1, id);
    expect((await expire(store)).purged).toBe(1);
  });

  it('goes in steps, meets each deadline once however many sweep, and passes over what has no record', async () => {
    const store = storeWith({ deliveryTimeoutMs: 1 });
    for (let n = 0; n < 250; n++) await create(store);
    while ((await poll(store)).length > 0);
    await redis.zadd(store.keys.deadlines(partitionOf('due')), 1, `${partitionOf('due')}${'a'.repeat(26)}`);
    let redelivered = 0;
    await until(async () => {
      const steps = await Promise.all([expire(store), expire(store), expire(store)]);
      for (const step of steps) redelivered += step.redelivered;
      return steps.every(({ isMore }) => !isMore) && redelivered === 250;
    });
    expect(await redis.zcard(store.keys.deadlines(partitionOf('due')))).toBe(0);
  });

  it('leaves records and indexes in agreement', async () => {
    const store = storeWith({ deliveryTimeoutMs: 1 });
    await run(store, { timeoutSeconds: 0.001, maxRetries: 0 });
    await run(store, { timeoutSeconds: 0.001 });
    await create(store);
    await poll(store);
    await until(async () => {
      await expire(store);
      return (await redis.zcount(store.keys.deadlines(partitionOf('due')), 0, Date.now())) === 0;
    });
    expect(await fsck(redis, prefix)).toEqual([]);
  });
});

it('knows the tag of every partition', () => {
  expect(PARTITION_TAGS).toHaveLength(64);
  expect([PARTITION_TAGS[0], PARTITION_TAGS.at(-1)]).toEqual(['00', '3f']);
});
