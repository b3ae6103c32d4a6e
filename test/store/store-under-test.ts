import { randomUUID } from 'node:crypto';
import { afterAll } from '@jest/globals';
import { createJobRequest } from '@yardmaster/protocol';
import {
  ANY_SPACE,
  ackJob,
  beginCallback,
  claimJob,
  completeJob,
  createJob,
  createStore,
  FORMAT,
  PARTITIONS,
  recordCallback,
  redisNow,
  type Store,
  type StoreSettings,
} from '@yardmaster/store';
import type { Redis } from 'ioredis';
import { connectTo } from '../support/connect.js';
import { fsck, keysOf } from '../support/fsck.js';
import { sharedService } from '../support/shared-service.js';

export const HOOK = 'https://example.com/hook';

/** Connect to the shared Redis. The keys of all stores of the file are removed at the end. */
export function withConnection(): Redis {
  const redis = connectTo(sharedService().redisUrl);
  afterAll(async () => {
    for (const prefix of prefixes) for (const key of await keysOf(redis, prefix)) await redis.unlink(key);
    redis.disconnect();
  });
  return redis;
}

/** Check a store that no service has prepared, so that its number of partitions is not stored. */
export async function fsckUnprepared(store: Store): Promise<string[]> {
  await store.redis.hset(store.keys.meta, 'partitions', PARTITIONS, 'format', FORMAT);
  return fsck(store);
}

/** Key prefixes of all stores of this test file. */
const prefixes = new Set<string>();

/** Make a store with its own prefix, and short verbs for jobs with a callback in the space `calling`. */
export function storeUnderTest(redis: Redis, settings: Partial<StoreSettings> = {}) {
  const prefix = `t-${randomUUID().slice(0, 8)}`;
  prefixes.add(prefix);
  const store = createStore(redis, { keyPrefix: prefix, ...settings });
  const callbacksOf = (id: string) => store.keys.callbacks(id.slice(0, 2));

  /** Create a pending job with a callback. */
  async function create(fields = {}, space = 'calling') {
    const request = createJobRequest.parse({ name: 'work', callbackUrl: HOOK, ...fields });
    return (await createJob(store, space, request)).job.id;
  }

  async function run(fields = {}, space = 'calling') {
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
    /** Complete a job, whose callback is then pending. */
    async completeWithCallback(fields = {}) {
      const id = await run(fields);
      await completeJob(store, ANY_SPACE, id, { ok: [] });
      return id;
    },
    async begin(jobId: string, series = 0) {
      const begun = await beginCallback(store, { jobId, series });
      if ('lease' in begun) leases.set(jobId, begun.lease);
      return begun;
    },
    /** Record an outcome with the latest lease, unless another one is given. */
    record: (
      jobId: string,
      attempt: number,
      retryMs: number | null,
      { lease = leases.get(jobId) ?? '', series = 0 } = {},
    ) =>
      recordCallback(
        store,
        { jobId, series },
        {
          lease,
          type: 'callback_sent',
          data: { url: HOOK, statusCode: 200, attempt, retryAttempt: attempt - 1, willRetry: retryMs !== null },
          retryMs,
        },
      ),
    /** Return when the relay next returns a pending callback. */
    lookAt: async (id: string) => Number(await redis.zscore(callbacksOf(id), id)),
    /** Pretend that a callback has been due, without a lease and without a relay, for this long. */
    async makeDue(id: string, ms: number) {
      const then = (await redisNow(store)) - ms;
      await redis.hset(store.keys.job(id), 'callbackDueAt', then, 'callbackLeasedUntil', then);
      await redis.zadd(callbacksOf(id), then, id);
    },
  };
}

export type StoreUnderTest = ReturnType<typeof storeUnderTest>;

/** Do something, and return its outcome with the clock of Redis before and after. */
export async function timed<T>({ store }: StoreUnderTest, work: () => Promise<T>) {
  const before = await redisNow(store);
  const outcome = await work();
  return { outcome, before, after: await redisNow(store) };
}
