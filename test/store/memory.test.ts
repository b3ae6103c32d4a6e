import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createJobRequest } from '@yardmaster/protocol';
import { ANY_SPACE, ackJob, completeJob, createJob, createStore, pollJobs, type Store } from '@yardmaster/store';
import type { Redis } from 'ioredis';
import { connectTo } from '../support/connect.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';

const JOBS = 2_000;

// A Redis with nothing else in it.
let server: OwnRedis;
let redis: Redis;
let store: Store;
beforeAll(async () => {
  server = await startRedis({ appendonly: 'no' });
  redis = connectTo(server.url);
  store = createStore(redis);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

/** Used memory, without what the allocator keeps for a moment. */
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
    const jobs = await pollJobs(store, 'memory', { count: 50, names: [] });
    left -= jobs.length;
    await Promise.all(jobs.map(({ id }) => ackJob(store, ANY_SPACE, id)));
    await Promise.all(jobs.map(({ id }) => completeJob(store, ANY_SPACE, id, { ok: true })));
  }
}

it('takes at most 1 300 bytes per pending and per completed job, all keys counted', async () => {
  const empty = await usedMemory();
  await createJobs();
  const pending = ((await usedMemory()) - empty) / JOBS;
  await completeJobs();
  const completed = ((await usedMemory()) - empty) / JOBS;
  for (const bytes of [pending, completed]) {
    // Below this something else than jobs was measured: the payload alone is 200 bytes.
    expect(bytes).toBeGreaterThan(500);
    expect(bytes).toBeLessThanOrEqual(1_300);
  }
});
