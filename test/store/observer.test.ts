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
  heartbeatJob,
  killJob,
  packLog,
  partitionOf,
  pollJobs,
  redisNow,
  type Store,
  type StoreObserver,
} from '@yardmaster/store';
import { until } from '../support/until.js';
import { withConnection } from './store-under-test.js';

const redis = withConnection();

describe('the observer of a store', () => {
  /** What was told, but for the calls. */
  let told: unknown[][];
  let called: string[];
  let store: Store;
  const observer: StoreObserver = {
    called: (name) => called.push(name),
    failed: (...what) => told.push(['failed', ...what]),
    moved: (...what) => told.push(['moved', ...what]),
    delivered: (...what) => told.push(['handedOut', ...what]),
    expired: (lateMs) => told.push(['met', lateMs >= 0]),
    logged: (...what) => told.push(['logged', ...what]),
    refusedLogs: () => told.push(['refusedLogs']),
    cutSearchShort: () => told.push(['cutSearchShort']),
  };
  const settings = { keyPrefix: `t-observer-${process.pid}`, deliveryTimeoutMs: 1, retentionMs: 1 };
  const watched = (retentionMs = 0, deliveryTimeoutMs = 60_000, maxDeliveries = 100) =>
    createStore(redis, { ...settings, retentionMs, deliveryTimeoutMs, maxDeliveries }, { observer });
  const create = (fields = {}) => createJob(store, 'seen', createJobRequest.parse({ name: 'work', ...fields }));
  const run = async (fields = {}) => {
    const { id } = await create(fields);
    await claimJob(store, ANY_SPACE, id);
    await ackJob(store, ANY_SPACE, id);
    told = [];
    called = [];
    return id;
  };
  /** Sweep until something was due. */
  const sweep = async () => {
    await until(async () => {
      await expireDue(store, partitionOf('seen'), await redisNow(store));
      return told.length > 0;
    });
  };
  beforeEach(async () => {
    store = watched();
    told = [];
    called = [];
  });

  it('is told of creation, poll, claim, ack and completion', async () => {
    const { id } = await create();
    await pollJobs(store, 'seen', { count: 5, names: [] });
    await pollJobs(store, 'seen', { count: 5, names: [] });
    await claimJob(store, ANY_SPACE, id);
    await ackJob(store, ANY_SPACE, id);
    await heartbeatJob(store, ANY_SPACE, id, { kind: 'keepalive' });
    await completeJob(store, ANY_SPACE, id, null);
    expect(told).toEqual([
      ['moved', 'none', 'pending', 1],
      ['moved', 'pending', 'delivered', 1],
      ['handedOut', 'poll', 1],
      ['handedOut', 'poll', 0],
      ['handedOut', 'claim', 0],
      ['moved', 'delivered', 'running', 1],
      ['moved', 'running', 'completed', 1],
    ]);
    expect(called).toEqual(['create', 'poll', 'poll', 'claim', 'ack', 'heartbeat', 'complete']);
  });

  it('is told where a failed job went, and from where a killed one came, once', async () => {
    const id = await run({ maxRetries: 1 });
    await failJob(store, ANY_SPACE, id, 'first');
    expect(told).toEqual([['moved', 'running', 'pending', 1]]);
    await claimJob(store, ANY_SPACE, id);
    await ackJob(store, ANY_SPACE, id);
    told = [];
    await failJob(store, ANY_SPACE, id, 'second');
    const { id: other } = await create();
    await killJob(store, ANY_SPACE, other, null);
    await killJob(store, ANY_SPACE, other, null);
    expect(told).toEqual([
      ['moved', 'running', 'dead', 1],
      ['moved', 'none', 'pending', 1],
      ['moved', 'pending', 'killed', 1],
    ]);
    const running = await run();
    await killJob(store, ANY_SPACE, running, null);
    expect(told).toEqual([['moved', 'running', 'killed', 1]]);
  });

  it('is told of no move that was refused', async () => {
    const id = await run();
    await expect(ackJob(store, ANY_SPACE, id)).rejects.toMatchObject({ code: 'JOB_NOT_DELIVERED' });
    await completeJob(store, ANY_SPACE, id, null);
    told = [];
    await expect(failJob(store, ANY_SPACE, id, 'x')).rejects.toMatchObject({ code: 'JOB_NOT_RUNNING' });
    await expect(killJob(store, ANY_SPACE, id, null)).rejects.toMatchObject({ code: 'JOB_ENDED' });
    expect(told).toEqual([]);
  });

  it('is told of every way in which a deadline is met', async () => {
    store = watched(0, 1);
    await run({ timeoutSeconds: 0.001, maxRetries: 1 });
    await sweep();
    expect(told).toEqual([
      ['moved', 'running', 'pending', 1],
      ['met', true],
    ]);
    const [retried] = await pollJobs(store, 'seen', { count: 1, names: [] });
    told = [];
    await sweep();
    expect(told).toEqual([
      ['moved', 'delivered', 'pending', 1],
      ['met', true],
    ]);
    await claimJob(watched(), ANY_SPACE, retried?.id as string);
    await killJob(watched(1), ANY_SPACE, retried?.id as string, null);
    told = [];
    await sweep();
    expect(told).toEqual([
      ['moved', 'killed', 'none', 1],
      ['met', true],
    ]);
    await run({ timeoutSeconds: 0.001, maxRetries: 0 });
    store = watched(1);
    await sweep();
    expect(told[0]).toEqual(['moved', 'running', 'dead', 1]);
    told = [];
    await sweep();
    expect(told[0]).toEqual(['moved', 'dead', 'none', 1]);
    store = watched(0, 1, 1);
    await claimJob(store, ANY_SPACE, (await create()).id);
    told = [];
    await sweep();
    expect(told[0]).toEqual(['moved', 'delivered', 'dead', 1]);
    store = watched(1);
    const ended = await run();
    await completeJob(store, ANY_SPACE, ended, null);
    told = [];
    await sweep();
    expect(told[0]).toEqual(['moved', 'completed', 'none', 1]);
  });

  it('is told of log entries that were appended', async () => {
    const id = await run();
    await appendLogs(store, ANY_SPACE, id, [packLog({ message: 'a' } as never), packLog({ message: 'b' } as never)]);
    expect(told).toEqual([['logged', 2]]);
  });
});
