import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
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
  killJob,
  PARTITION_TAGS,
  partitionOf,
  pollJobs,
  redisNow,
  type Store,
  type StoreSettings,
} from '@yardmaster/store';
import { keysOf } from '../support/fsck.js';
import { until } from '../support/until.js';
import { withConnection } from './store-under-test.js';

const redis = withConnection();

// The model test compares expiry with the specification to the millisecond. These tests cover what it cannot reach.
describe('expireDue', () => {
  let prefix: string;
  beforeEach(() => {
    prefix = `t-${randomUUID().slice(0, 8)}`;
  });

  const storeWith = (settings: Partial<StoreSettings> = {}): Store =>
    createStore(redis, { keyPrefix: prefix, deliveryTimeoutMs: 60_000, ...settings });
  const create = (store: Store, fields = {}) =>
    createJob(store, 'due', createJobRequest.parse({ name: 'work', ...fields }));
  const poll = async (store: Store) => (await pollJobs(store, 'due', { count: 50, names: [] })).jobs;
  const run = async (store: Store, fields = {}) => {
    const { id } = await create(store, fields);
    await poll(store);
    await ackJob(store, ANY_SPACE, id);
    return id;
  };
  const expire = async (store: Store) => expireDue(store, partitionOf('due'), await redisNow(store));
  const read = (store: Store, id: string) => getJob(store, ANY_SPACE, id);
  const typesOf = async (store: Store, id: string) => (await read(store, id)).events.map(({ type }) => type);
  const nothing = {
    isMore: false,
    redelivered: 0,
    neverAcked: 0,
    timedOut: 0,
    purged: 0,
    reopened: 0,
    lagMs: 0,
    broken: [],
  };

  it('expireDue skips a job whose record is broken, and retries it later', async () => {
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

  it('expireDue purges ended jobs with all their keys, and a space with its last job', async () => {
    const store = storeWith({ retentionMs: 1 });
    await completeJob(store, ANY_SPACE, await run(store), { ok: true });
    await failJob(store, ANY_SPACE, await run(store, { maxRetries: 0 }), { error: 'broken' });
    await killJob(store, ANY_SPACE, (await create(store)).id, 'enough');
    let purged = 0;
    await until(async () => {
      purged += (await expire(store)).purged;
      return purged === 3;
    });
    expect(await keysOf(redis, prefix)).toEqual([]);
  });

  it('expireDue expires each deadline once in portions, even in concurrent sweeps, and skips ids without a record', async () => {
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
});

it('lists the tag of every partition', () => {
  expect(PARTITION_TAGS).toHaveLength(64);
  expect([PARTITION_TAGS[0], PARTITION_TAGS.at(-1)]).toEqual(['00', '3f']);
});
