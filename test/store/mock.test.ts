import { afterAll, describe, expect, it } from '@jest/globals';
import { createJobRequest, type Status } from '@yardmaster/protocol';
import {
  ANY_SPACE,
  ackJob,
  claimJob,
  completeJob,
  createJob,
  createStore,
  failJob,
  fsck,
  getJob,
  getProgress,
  getStats,
  heartbeatJob,
  killJob,
  listJobs,
  PARTITIONS,
  pollJobs,
  type Store,
} from '@yardmaster/store';
import { Redis } from 'ioredis';
import RedisMock from 'ioredis-mock';

// The same walk over both: what holds on ioredis-mock, with its Lua 5.3, must be what holds on Redis, with its 5.1.

const real = new Redis((process.env.TEST_REDIS_URL as string).replace('unix://', ''), { disconnectTimeout: 50 });
const mock = new RedisMock();
afterAll(() => {
  real.disconnect();
  mock.disconnect();
});

const request = (fields = {}) => createJobRequest.parse({ name: 'work "quoted"\n', payload: { a: [] }, ...fields });

describe.each([
  ['redis-server', real],
  ['ioredis-mock', mock],
])('the store on %s', (_name, redis) => {
  const store: Store = createStore(redis as Redis, { keyPrefix: `t-mock-${process.pid}`, eventsPerJob: 10 });

  it('brings a job through a failed attempt to its result', async () => {
    const { id, createdAt } = await createJob(store, 'walk', request({ timeoutSeconds: 0.5, maxRetries: 1 }));
    const claimed = { id, name: 'work "quoted"\n', payload: { a: [] }, timeoutSeconds: 0.5, maxRetries: 1, createdAt };
    const select = { count: 5, names: ['other', 'work "quoted"\n'] };
    expect(await pollJobs(store, 'walk', select)).toEqual([{ ...claimed, attemptNumber: 0, checkpoint: null }]);
    expect(await claimJob(store, ANY_SPACE, id)).toEqual({
      claimed: false,
      reason: 'not_pending',
      status: 'delivered',
    });
    await ackJob(store, ANY_SPACE, id);
    await heartbeatJob(store, ANY_SPACE, id, { kind: 'checkpoint', data: [] });
    await heartbeatJob(store, ANY_SPACE, id, { kind: 'progress', data: { percent: 5, message: 'x' } });
    await heartbeatJob(store, ANY_SPACE, id, { kind: 'keepalive' });
    expect(await getProgress(store, ANY_SPACE, id)).toMatchObject({ progress: { percent: 5, message: 'x' } });
    await failJob(store, ANY_SPACE, id, { why: {} });
    expect(await claimJob(store, ANY_SPACE, id)).toEqual({
      claimed: true,
      job: { ...claimed, attemptNumber: 1, checkpoint: [] },
    });
    await ackJob(store, ANY_SPACE, id);
    await completeJob(store, ANY_SPACE, id, {});

    const job = await getJob(store, ANY_SPACE, id);
    expect(job).toMatchObject({ status: 'completed', attemptNumber: 2, result: {}, completedAt: job.updatedAt });
    expect(job.events.map(({ type, data }) => [type, data])).toEqual([
      ['created', null],
      ['delivered', null],
      ['acked', null],
      ['checkpoint', []],
      ['progress', { percent: 5, message: 'x' }],
      ['retried', { error: { why: {} }, attemptNumber: 1 }],
      ['delivered', null],
      ['acked', null],
      ['completed', {}],
    ]);
    await expect(killJob(store, ANY_SPACE, id, null)).rejects.toMatchObject({ code: 'JOB_ENDED' });
    await expect(ackJob(store, { spaceId: 'else' }, id)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('hands out oldest first over several names, and lists newest first by status', async () => {
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c', 'a', 'b']) ids.push((await createJob(store, 'order', request({ name }))).id);
    const [first, second, third, fourth, fifth] = ids as [string, string, string, string, string];
    const taken = await pollJobs(store, 'order', { count: 3, names: ['b', 'a'] });
    expect(taken.map(({ id }) => id)).toEqual([first, second, fourth]);
    await killJob(store, ANY_SPACE, third, 'enough');
    const list = async (status?: Status) =>
      (await listJobs(store, 'order', { status, limit: 100, offset: 0 })).map(({ id }) => id);
    expect(await list()).toEqual([fifth, fourth, third, second, first]);
    expect(await list('delivered')).toEqual([fourth, second, first]);
    expect(await list('pending')).toEqual([fifth]);
    expect(await list('killed')).toEqual([third]);
    const age = expect.any(Number);
    expect(await getStats(store, 'order', { limit: 2, names: [] })).toMatchObject({
      jobs: { pending: 1, delivered: 3, killed: 1, total: 5 },
      names: [
        { name: 'b', total: 2, pending: 1, oldestPendingAgeSeconds: age },
        { name: 'a', total: 2, pending: 0, oldestPendingAgeSeconds: null },
      ],
      namesLeftOut: 1,
    });
    expect(await getStats(store, 'order', { limit: 2, names: ['none', 'b'] })).toMatchObject({
      names: [
        { name: 'none', total: 0 },
        { name: 'b', total: 2, pending: 1 },
      ],
      namesLeftOut: 2,
    });
    expect(await pollJobs(store, 'order', { count: 50, names: [] })).toMatchObject([{ id: fifth }]);
  });

  it('is found to be whole, and what is missing is found', async () => {
    const whole = createStore(redis as Redis, { keyPrefix: `t-mock-fsck-${process.pid}` });
    await redis.hset(whole.keys.meta, 'partitions', PARTITIONS);
    const { id } = await createJob(whole, 'check', request({ name: 'work' }));
    await claimJob(whole, ANY_SPACE, (await createJob(whole, 'check', request())).id);
    const faults = async () => {
      const found: unknown[] = [];
      await fsck(whole, { onFault: ({ kind, jobId, key }) => found.push({ kind, jobId, key }) });
      return found;
    };
    expect(await faults()).toEqual([]);
    const key = `${whole.keys.queue('check')}/work`;
    await redis.zrem(key, id);
    expect(await faults()).toEqual([{ kind: 'entry_missing', jobId: id, key }]);
  });
});
