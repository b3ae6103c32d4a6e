import { randomUUID } from 'node:crypto';
import { afterAll, expect, it } from '@jest/globals';
import { createJobRequest } from '@yardmaster/protocol';
import {
  ANY_SPACE,
  ackJob,
  claimJob,
  createJob,
  createStore,
  getJob,
  heartbeatJob,
  prepareRedis,
} from '@yardmaster/store';
import { Redis } from 'ioredis';
import { sharedService } from '../support/shared-service.js';

const connect = () => new Redis(sharedService().redisUrl.replace('unix://', ''), { disconnectTimeout: 50 });
const [redis, reads] = [connect(), connect()];
afterAll(() => {
  redis.disconnect();
  reads.disconnect();
});

it('returns each event once, and none after the snapshot, when a history is trimmed while it is read', async () => {
  const settings = { keyPrefix: `t-${randomUUID().slice(0, 8)}`, eventsPerJob: 351 };
  const store = createStore(redis, settings, { bulk: reads });
  await prepareRedis(store); // Loads every script, so that each portion is one EVALSHA.
  const { id } = await createJob(store, 'trim', createJobRequest.parse({ name: 'work' }));
  await claimJob(store, ANY_SPACE, id);
  await ackJob(store, ANY_SPACE, id);
  const append = async (count: number) => {
    for (let i = 0; i < count; i++) await heartbeatJob(store, ANY_SPACE, id, { kind: 'event', data: i });
  };
  await append(400); // Events 4 to 403; 2 to 53 are dropped.

  // Between two portions, append so many events that the next portion starts among dropped ones.
  const evalsha = reads.evalsha.bind(reads) as (...args: unknown[]) => Promise<unknown>;
  let portions = 0;
  reads.evalsha = (async (...args: unknown[]) => {
    const reply = await evalsha(...args);
    if (++portions === 1) await append(150);
    return reply;
  }) as typeof reads.evalsha;

  const { events } = await getJob(store, ANY_SPACE, id);

  const seqs = events.map((event) => Number(event.id.split('.')[1]));
  expect(portions).toBeGreaterThan(2);
  expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
  expect(seqs.slice(0, 2)).toEqual([1, 54]);
  expect(seqs.at(-1)).toBe(403);
});
