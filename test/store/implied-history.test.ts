import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { fsck as check } from '@yardmaster/fsck';
import type { JobEvent } from '@yardmaster/protocol';
import {
  ANY_SPACE,
  ackJob,
  claimJob,
  completeJob,
  expireDue,
  failJob,
  getJob,
  heartbeatJob,
  killJob,
  partitionOf,
  readSince,
  readSnapshot,
  redisNow,
} from '@yardmaster/store';
import { fsck } from '../support/fsck.js';
import { type StoreUnderTest, storeUnderTest, withConnection } from './store-under-test.js';

// A job that runs through at the first attempt has no list of events: they follow from its record, and are written down
// once something else happens.

const redis = withConnection();

describe('the history', () => {
  let owing: StoreUnderTest;
  beforeEach(() => {
    owing = storeUnderTest(redis, { eventsPerJob: 10 });
  });
  afterEach(async () => expect(await fsck(redis, owing.prefix)).toEqual([]));

  const listOf = (id: string) => redis.lrange(`${owing.store.keys.job(id)}:events`, 0, -1);
  const seqOf = ({ id }: JobEvent) => Number(id.split('.')[1]);

  /** What every reader says has happened to a job, after it was made sure that they say the same. */
  async function typesOf(id: string): Promise<string[]> {
    const { store } = owing;
    const { events, status } = await getJob(store, ANY_SPACE, id);
    const seqs = events.map(seqOf);
    const last = seqs.at(-1) as number;
    expect(await readSnapshot(store, ANY_SPACE, id)).toMatchObject({ seq: last, status });
    for (const fromSeq of [1, 2, 3, last, last + 1]) {
      const since = await readSince(store, id, fromSeq);
      const told = since.events.map(({ seq, type, at, data }) => ({ seq, type, at, data }));
      const later = events.filter((event) => seqOf(event) >= Math.max(2, fromSeq));
      expect(told).toEqual(
        later.map((event) => ({
          seq: seqOf(event),
          type: event.type,
          at: Date.parse(event.createdAt),
          data: event.data,
        })),
      );
      expect(since.lastSeq).toBe(last);
    }
    return events.map((event) => `${seqOf(event)} ${event.type}`);
  }

  const STEPS: Record<string, (id: string) => Promise<unknown>> = {
    claim: (id) => claimJob(owing.store, ANY_SPACE, id),
    ack: (id) => ackJob(owing.store, ANY_SPACE, id),
    complete: (id) => completeJob(owing.store, ANY_SPACE, id, { ok: [] }),
    keepalive: (id) => heartbeatJob(owing.store, ANY_SPACE, id, { kind: 'keepalive' }),
    progress: (id) =>
      heartbeatJob(owing.store, ANY_SPACE, id, { kind: 'progress', data: { percent: 1, message: 'on' } }),
    checkpoint: (id) => heartbeatJob(owing.store, ANY_SPACE, id, { kind: 'checkpoint', data: {} }),
    event: (id) => heartbeatJob(owing.store, ANY_SPACE, id, { kind: 'event', data: 1 }),
    fail: (id) => failJob(owing.store, ANY_SPACE, id, 'no'),
    kill: (id) => killJob(owing.store, ANY_SPACE, id, null),
    async expire(id) {
      await redis.zadd(owing.store.keys.deadlines(id.slice(0, 2)), 1, id);
      await expireDue(owing.store, partitionOf('owing'), await redisNow(owing.store));
    },
    async callback(id) {
      await owing.begin(id);
      await owing.record(id, 1, null);
    },
  };
  async function lives(steps: string, fields = {}): Promise<string> {
    const id = await owing.create(fields);
    for (const step of steps.split(' ').filter(Boolean)) await STEPS[step]?.(id);
    return id;
  }

  it.each([
    ['', '1 created'],
    ['claim', '1 created, 2 delivered'],
    ['claim ack', '1 created, 2 delivered, 3 acked'],
    ['claim ack keepalive', '1 created, 2 delivered, 3 acked'],
    ['claim ack keepalive complete', '1 created, 2 delivered, 3 acked, 4 completed'],
  ])('has no list after: %s', async (steps, types) => {
    const id = await lives(steps);
    expect(await typesOf(id)).toEqual(types.split(', '));
    expect(await redis.exists(`${owing.store.keys.job(id)}:events`)).toBe(0);
  });

  it.each([
    ['kill', '2 killed'],
    ['claim kill', '2 delivered, 3 killed'],
    ['claim ack kill', '2 delivered, 3 acked, 4 killed'],
    ['claim expire', '2 delivered, 3 delivery_timeout'],
    ['claim expire claim ack complete', '2 delivered, 3 delivery_timeout, 4 delivered, 5 acked, 6 completed'],
    ['claim ack expire', '2 delivered, 3 acked, 4 retried'],
    ['claim ack progress', '2 delivered, 3 acked, 4 progress'],
    ['claim ack checkpoint complete', '2 delivered, 3 acked, 4 checkpoint, 5 completed'],
    ['claim ack event event', '2 delivered, 3 acked, 4 event, 5 event'],
    ['claim ack fail', '2 delivered, 3 acked, 4 retried'],
    ['claim ack fail claim ack fail', '2 delivered, 3 acked, 4 retried, 5 delivered, 6 acked, 7 dead'],
    ['claim ack complete callback', '2 delivered, 3 acked, 4 completed, 5 callback_sent'],
  ])('is all in its list after: %s', async (steps, types) => {
    const id = await lives(steps, { maxRetries: 1 });
    expect(await typesOf(id)).toEqual(['1 created', ...types.split(', ')]);
    expect((await listOf(id)).map((entry) => JSON.parse(entry)[0])).toEqual(
      types.split(', ').map((one) => one.split(' ')[1]),
    );
  });

  it('goes on with a list that an earlier release has begun', async () => {
    const id = await lives('claim');
    const at = (await getJob(owing.store, ANY_SPACE, id)).deliveredAt as string;
    await redis.rpush(`${owing.store.keys.job(id)}:events`, `["delivered",${Date.parse(at)}]`);
    for (const step of ['ack', 'complete']) await STEPS[step]?.(id);
    expect(await typesOf(id)).toEqual(['1 created', '2 delivered', '3 acked', '4 completed']);
    expect(await listOf(id)).toHaveLength(3);
  });

  it.each([
    ['claim', 'deliveredAt', '2 delivered'],
    ['claim ack complete', 'startedAt', '2 delivered, 3 acked, 4 completed'],
  ])('is shown of a job that has lost a time after: %s', async (steps, field, types) => {
    const id = await lives(steps);
    const job = owing.store.keys.job(id);
    const value = (await redis.hget(job, field)) as string;
    await redis.hdel(job, field);
    expect(await typesOf(id)).toEqual(['1 created', ...types.split(', ')]);
    await redis.hset(job, field, value);
  });

  it.each([
    ['claim ack progress', 'its worker has reported'],
    ['claim ack fail', 'an attempt has failed'],
    ['claim ack fail claim ack', 'an attempt has failed'],
    ['claim ack complete callback', 'its callback was attempted'],
    ['kill', 'the job is killed'],
  ])('is known to be lost after: %s', async (steps, why) => {
    const id = await lives(steps);
    const key = `${owing.store.keys.job(id)}:events`;
    const entries = await listOf(id);
    await redis.del(key);
    const faults: unknown[] = [];
    await check(owing.store, { onFault: ({ kind, detail }) => faults.push([kind, detail]) });
    expect(faults).toContainEqual(['history_incomplete', `there is none, and ${why}`]);
    await redis.rpush(key, ...entries);
  });
});
