import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { createJobRequest } from '@yardmaster/protocol';
import {
  ANY_SPACE,
  ackJob,
  appendLogs,
  claimJob,
  completeJob,
  createJob,
  createStore,
  expireDue,
  failJob,
  getJob,
  heartbeatJob,
  killJob,
  PARTITION_TAGS,
  packLog,
  partitionOf,
  pollJobs,
  redisNow,
  releaseJob,
  type Store,
  type StoreObserver,
  type StoreSettings,
} from '@yardmaster/store';
import { keysOf } from '../support/fsck.js';
import { changeState, tokenOf } from '../support/job-state.js';
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
    createJob(store, 'due', createJobRequest.parse({ name: 'work', ...fields })).then(({ job }) => job);
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
    await changeState(redis, store.keys.job(broken), { maxRetries: 'many' });
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

describe('observer of a store', () => {
  /** Everything that was reported, except the calls. */
  let observed: unknown[][];
  let called: string[];
  let store: Store;
  const observer: StoreObserver = {
    called: (name) => called.push(name),
    failed: (...what) => observed.push(['failed', ...what]),
    changed: ({ from, to, jobs = 1, by }) => observed.push(['changed', from, to, jobs, ...(by ? [by] : [])]),
    polled: (...what) => observed.push(['polled', ...what]),
    unfenced: () => observed.push(['unfenced']),
    expired: (lagMs) => observed.push(['expired', lagMs >= 0]),
    promoted: (lagMs) => observed.push(['promoted', lagMs >= 0]),
    fired: ({ fired, skipped }) => observed.push(['fired', fired, skipped]),
    logged: (...what) => observed.push(['logged', ...what]),
    refusedLogs: () => observed.push(['refusedLogs']),
    cutSearchShort: () => observed.push(['cutSearchShort']),
  };
  const settings = { keyPrefix: `t-observer-${process.pid}`, deliveryTimeoutMs: 1, retentionMs: 1 };
  const observedStore = (retentionMs = 0, deliveryTimeoutMs = 60_000, maxDeliveries = 100) =>
    createStore(redis, { ...settings, retentionMs, deliveryTimeoutMs, maxDeliveries }, { observer });
  const create = (fields = {}) =>
    createJob(store, 'seen', createJobRequest.parse({ name: 'work', ...fields })).then(({ job }) => job);
  const run = async (fields = {}) => {
    const { id } = await create(fields);
    await claimJob(store, ANY_SPACE, id);
    await ackJob(store, ANY_SPACE, id);
    observed = [];
    called = [];
    return id;
  };
  /** Sweep until something has expired. */
  const sweep = async () => {
    await until(async () => {
      await expireDue(store, partitionOf('seen'), await redisNow(store));
      return observed.length > 0;
    });
  };
  beforeEach(async () => {
    store = observedStore();
    observed = [];
    called = [];
  });

  it('reports creation, poll, claim, ack and completion of jobs to the observer', async () => {
    const { id } = await create();
    await pollJobs(store, 'seen', { count: 5, names: [] });
    await pollJobs(store, 'seen', { count: 5, names: [] });
    await claimJob(store, ANY_SPACE, id);
    await ackJob(store, ANY_SPACE, id);
    await heartbeatJob(store, ANY_SPACE, id, { kind: 'keepalive' });
    await completeJob(store, ANY_SPACE, id, null);
    expect(observed).toEqual([
      ['changed', 'none', 'pending', 1],
      ['changed', 'pending', 'delivered', 1, 'poll'],
      ['polled', 1],
      ['polled', 0],
      ['changed', 'delivered', 'running', 1],
      ['changed', 'running', 'completed', 1],
    ]);
    expect(called).toEqual(['create', 'poll', 'poll', 'claim', 'ack', 'heartbeat', 'complete']);
  });

  it('reports the new status of a failed job and the old status of a killed job to the observer once', async () => {
    const id = await run({ maxRetries: 1 });
    await failJob(store, ANY_SPACE, id, { error: 'first' });
    expect(observed).toEqual([['changed', 'running', 'pending', 1]]);
    await claimJob(store, ANY_SPACE, id);
    await ackJob(store, ANY_SPACE, id);
    observed = [];
    await failJob(store, { ...ANY_SPACE, deliveryToken: await tokenOf(redis, store.keys.job(id), '1.0') }, id, {
      error: 'second',
    });
    const { id: other } = await create();
    await killJob(store, ANY_SPACE, other, null);
    await killJob(store, ANY_SPACE, other, null);
    expect(observed).toEqual([
      ['changed', 'running', 'dead', 1],
      ['changed', 'none', 'pending', 1],
      ['changed', 'pending', 'killed', 1],
    ]);
    const running = await run();
    await killJob(store, ANY_SPACE, running, null);
    expect(observed).toEqual([['changed', 'running', 'killed', 1]]);
  });

  it('reports a release, and late calls without a delivery token, to the observer', async () => {
    const id = await run({ maxRetries: 1 });
    await failJob(store, ANY_SPACE, id, { error: 'first' });
    await claimJob(store, ANY_SPACE, id);
    const worker = { ...ANY_SPACE, deliveryToken: await tokenOf(redis, store.keys.job(id), '1.0') };
    observed = [];
    await ackJob(store, ANY_SPACE, id);
    await ackJob(store, worker, id); // Sent again.
    await heartbeatJob(store, ANY_SPACE, id, { kind: 'keepalive' });
    await releaseJob(store, worker, id, {});
    expect(observed).toEqual([
      ['unfenced'],
      ['changed', 'delivered', 'running', 1],
      ['unfenced'],
      ['changed', 'running', 'pending', 1, 'release'],
    ]);
  });

  it('reports no refused transitions to the observer', async () => {
    const id = await run();
    await expect(ackJob(store, ANY_SPACE, id)).rejects.toMatchObject({ code: 'JOB_NOT_DELIVERED' });
    await completeJob(store, ANY_SPACE, id, null);
    observed = [];
    await expect(failJob(store, ANY_SPACE, id, { error: 'x' })).rejects.toMatchObject({ code: 'JOB_NOT_RUNNING' });
    await expect(killJob(store, ANY_SPACE, id, null)).rejects.toMatchObject({ code: 'JOB_ENDED' });
    expect(observed).toEqual([]);
  });

  it('reports every transition at a deadline with its lag to the observer', async () => {
    store = observedStore(0, 1);
    await run({ timeoutSeconds: 0.001, maxRetries: 1 });
    await sweep();
    expect(observed).toEqual([
      ['changed', 'running', 'pending', 1, 'timeout'],
      ['expired', true],
    ]);
    const [retried] = (await pollJobs(store, 'seen', { count: 1, names: [] })).jobs;
    observed = [];
    await sweep();
    expect(observed).toEqual([
      ['changed', 'delivered', 'pending', 1, 'timeout'],
      ['expired', true],
    ]);
    await claimJob(observedStore(), ANY_SPACE, retried?.id as string);
    await killJob(observedStore(1), ANY_SPACE, retried?.id as string, null);
    observed = [];
    await sweep();
    expect(observed).toEqual([
      ['changed', 'killed', 'none', 1],
      ['expired', true],
    ]);
    await run({ timeoutSeconds: 0.001, maxRetries: 0 });
    store = observedStore(1);
    await sweep();
    expect(observed[0]).toEqual(['changed', 'running', 'dead', 1, 'timeout']);
    observed = [];
    await sweep();
    expect(observed[0]).toEqual(['changed', 'dead', 'none', 1]);
    store = observedStore(0, 1, 1);
    await claimJob(store, ANY_SPACE, (await create()).id);
    observed = [];
    await sweep();
    expect(observed[0]).toEqual(['changed', 'delivered', 'dead', 1, 'timeout']);
    store = observedStore(1);
    const ended = await run();
    await completeJob(store, ANY_SPACE, ended, null);
    observed = [];
    await sweep();
    expect(observed[0]).toEqual(['changed', 'completed', 'none', 1]);
  });

  it('reports the number of appended log entries to the observer', async () => {
    const id = await run();
    await appendLogs(store, ANY_SPACE, id, [packLog({ message: 'a' } as never), packLog({ message: 'b' } as never)]);
    expect(observed).toEqual([['logged', 2]]);
  });
});
