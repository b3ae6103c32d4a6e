import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { createJobRequest } from '@yardmaster/protocol';
import {
  ANY_SPACE,
  ackJob,
  beginCallback,
  claimJob,
  completeJob,
  createJob,
  createStore,
  recordCallback,
  redisNow,
  type StoreSettings,
} from '@yardmaster/store';
import { Redis } from 'ioredis';
import RedisMock from 'ioredis-mock';

export const HOOK = 'https://example.com/hook';

/** For `describe.each`: what holds on ioredis-mock must be what holds on Redis. `quit` closes both. */
export function connections() {
  // ioredis-mock rounds the seconds of TIME and takes the microseconds from another clock: its time jumps by a second,
  // back and forth. With these microseconds it only goes on, half a second ahead.
  jest.spyOn(process, 'hrtime').mockImplementation(() => [0, ((Date.now() + 500) % 1_000) * 1e6]);
  const real = new Redis((process.env.TEST_REDIS_URL as string).replace('unix://', ''), { disconnectTimeout: 50 });
  const mock = new RedisMock() as Redis;
  return {
    each: [
      ['redis-server', real],
      ['ioredis-mock', mock],
    ] as [string, Redis][],
    quit() {
      real.disconnect();
      mock.disconnect();
    },
  };
}

/** A store under a prefix of its own, and short words for the life of a callback. */
export function owingStore(redis: Redis, settings: Partial<StoreSettings> = {}) {
  const prefix = `t-${randomUUID().slice(0, 8)}`;
  const store = createStore(redis, { keyPrefix: prefix, ...settings });
  const callbacksOf = (id: string) => store.keys.callbacks(id.slice(0, 2));

  /** A pending job with a callback. */
  async function create(fields = {}, space = 'owing') {
    const { id } = await createJob(
      store,
      space,
      createJobRequest.parse({ name: 'work', callbackUrl: HOOK, ...fields }),
    );
    return id;
  }

  async function run(fields = {}, space = 'owing') {
    const id = await create(fields, space);
    await claimJob(store, ANY_SPACE, id);
    await ackJob(store, ANY_SPACE, id);
    return id;
  }

  const leases = new Map<string, string>();
  return {
    store,
    prefix,
    create,
    run,
    /** A completed job, whose callback is owed. */
    async owe(fields = {}) {
      const id = await run(fields);
      await completeJob(store, ANY_SPACE, id, { ok: [] });
      return id;
    },
    async begin(jobId: string, round = 0) {
      const begun = await beginCallback(store, { jobId, round });
      if ('lease' in begun) leases.set(jobId, begun.lease);
      return begun;
    },
    /** By the holder of the latest lease, unless told. */
    record: (
      jobId: string,
      attempt: number,
      retryMs: number | null,
      { lease = leases.get(jobId) ?? '', round = 0 } = {},
    ) =>
      recordCallback(
        store,
        { jobId, round },
        {
          lease,
          type: 'callback_sent',
          data: { url: HOOK, statusCode: 200, attempt, willRetry: retryMs !== null },
          retryMs,
        },
      ),
    /** When the relay looks at a debt. */
    lookAt: async (id: string) => Number(await redis.zscore(callbacksOf(id), id)),
    /** As if so much time had passed since a debt was due and its lease over, with nobody looking at it. */
    async passed(id: string, ms: number) {
      const then = (await redisNow(store)) - ms;
      await redis.hset(store.keys.job(id), 'callbackDueAt', then, 'callbackLeasedUntil', then);
      await redis.zadd(callbacksOf(id), then, id);
    },
  };
}

export type OwingStore = ReturnType<typeof owingStore>;

/** Do something, and return what came of it with Redis' clock before and after. */
export async function timed<T>({ store }: OwingStore, work: () => Promise<T>) {
  const before = await redisNow(store);
  const outcome = await work();
  return { outcome, before, after: await redisNow(store) };
}
