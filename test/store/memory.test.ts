import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createJobRequest } from '@yardmaster/protocol';
import { ANY_SPACE, ackJob, completeJob, createJob, createStore, pollJobs, type Store } from '@yardmaster/store';
import type { Redis } from 'ioredis';
import { connectTo } from '../support/connect.js';
import { withRedis } from '../support/own-redis.js';

const JOBS = 2_000;

// An empty Redis of its own.
const server = withRedis({ appendonly: 'no' });
let redis: Redis;
let store: Store;
beforeAll(() => {
  redis = connectTo(server.url);
  store = createStore(redis);
});
afterAll(() => redis.disconnect());

/** Read the used memory, without memory that the allocator has not returned yet. */
async function usedMemory(): Promise<number> {
  await redis.call('MEMORY', 'PURGE');
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
}

async function createJobs(): Promise<void> {
  const payload = { text: 'x'.repeat(200 - '{"text":""}'.length) };
  const request = createJobRequest.parse({ name: 'resize', payload });
  for (let left = JOBS; left > 0; left -= 500) {
    await Promise.all(Array.from({ length: 500 }, () => createJob(store, 'memory', request)));
  }
}

async function completeJobs(): Promise<void> {
  for (let left = JOBS; left > 0; ) {
    const { jobs } = await pollJobs(store, 'memory', { count: 50, names: [] });
    left -= jobs.length;
    await Promise.all(jobs.map(({ id }) => ackJob(store, ANY_SPACE, id)));
    await Promise.all(jobs.map(({ id }) => completeJob(store, ANY_SPACE, id, { ok: true })));
  }
}

it('uses at most 1,300 bytes of Redis memory per pending and per completed job, including all keys', async () => {
  const empty = await usedMemory();
  await createJobs();
  const pending = ((await usedMemory()) - empty) / JOBS;
  await completeJobs();
  const completed = ((await usedMemory()) - empty) / JOBS;
  for (const bytes of [pending, completed]) {
    // A lower value would mean that the measurement is wrong: the payload alone is 200 bytes.
    expect(bytes).toBeGreaterThan(500);
    expect(bytes).toBeLessThanOrEqual(1_300);
  }
});
