import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createJobRequest, type JobEvent } from '@yardmaster/protocol';
import {
  ANY_SPACE,
  ackJob,
  claimJob,
  completeJob,
  createJob,
  createStore,
  expireDue,
  failJob,
  getJob,
  heartbeatJob,
  killJob,
  partitionOf,
  prepareRedis,
  readSince,
  readSnapshot,
  redisNow,
} from '@yardmaster/store';
import { Redis } from 'ioredis';
import { changeState, readState } from '../support/job-state.js';
import { sharedService } from '../support/shared-service.js';
import { fsckUnprepared, type StoreUnderTest, storeUnderTest, withConnection } from './store-under-test.js';

// A job that completes at the first attempt has no list of events: its record implies them. The list is written when any
// other event happens.

const redis = withConnection();

describe('history of a job', () => {
  let tested: StoreUnderTest;
  beforeEach(() => {
    tested = storeUnderTest(redis, { eventsPerJob: 10 });
  });
  afterEach(async () => expect(await fsckUnprepared(tested.store)).toEqual([]));

  const listOf = (id: string) => redis.lrange(`${tested.store.keys.job(id)}:events`, 0, -1);
  const seqOf = ({ id }: JobEvent) => Number(id.split('.')[1]);

  /** Return the events of a job, after checking that every reader returns the same. */
  async function typesOf(id: string): Promise<string[]> {
    const { store } = tested;
    const { events, status } = await getJob(store, ANY_SPACE, id);
    const seqs = events.map(seqOf);
    const last = seqs.at(-1) as number;
    expect(await readSnapshot(store, ANY_SPACE, id)).toMatchObject({ seq: last, status });
    for (const fromSeq of [1, 2, 3, last, last + 1]) {
      const since = await readSince(store, id, fromSeq);
      const returned = since.events.map(({ seq, type, at, data }) => ({ seq, type, at, data }));
      const later = events.filter((event) => seqOf(event) >= Math.max(2, fromSeq));
      expect(returned).toEqual(
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
    claim: (id) => claimJob(tested.store, ANY_SPACE, id),
    ack: (id) => ackJob(tested.store, ANY_SPACE, id),
    complete: (id) => completeJob(tested.store, ANY_SPACE, id, { ok: [] }),
    keepalive: (id) => heartbeatJob(tested.store, ANY_SPACE, id, { kind: 'keepalive' }),
    progress: (id) =>
      heartbeatJob(tested.store, ANY_SPACE, id, { kind: 'progress', data: { percent: 1, message: 'on' } }),
    checkpoint: (id) => heartbeatJob(tested.store, ANY_SPACE, id, { kind: 'checkpoint', data: {} }),
    event: (id) => heartbeatJob(tested.store, ANY_SPACE, id, { kind: 'event', data: 1 }),
    fail: (id) => failJob(tested.store, ANY_SPACE, id, { error: 'no' }),
    kill: (id) => killJob(tested.store, ANY_SPACE, id, null),
    async expire(id) {
      await redis.zadd(tested.store.keys.deadlines(id.slice(0, 2)), 1, id);
      await expireDue(tested.store, partitionOf('calling'), await redisNow(tested.store));
    },
    async callback(id) {
      await tested.begin(id);
      await tested.record(id, 1, null);
    },
  };
  async function jobAfter(steps: string, fields = {}): Promise<string> {
    const id = await tested.create(fields);
    for (const step of steps.split(' ').filter(Boolean)) await STEPS[step]?.(id);
    return id;
  }

  it.each([
    ['', '1 created'],
    ['claim', '1 created, 2 delivered'],
    ['claim ack', '1 created, 2 delivered, 3 acked'],
    ['claim ack keepalive', '1 created, 2 delivered, 3 acked'],
    ['claim ack keepalive complete', '1 created, 2 delivered, 3 acked, 4 completed'],
  ])('the record implies the history of a job without a list after: %s', async (steps, types) => {
    const id = await jobAfter(steps);
    expect(await typesOf(id)).toEqual(types.split(', '));
    expect(await redis.exists(`${tested.store.keys.job(id)}:events`)).toBe(0);
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
  ])('the list contains the complete history of a job after: %s', async (steps, types) => {
    const id = await jobAfter(steps, { maxRetries: 1 });
    expect(await typesOf(id)).toEqual(['1 created', ...types.split(', ')]);
    expect((await listOf(id)).map((entry) => JSON.parse(entry)[0])).toEqual(
      types.split(', ').map((one) => one.split(' ')[1]),
    );
  });

  it.each([
    ['claim', 'deliveredAt', '2 delivered'],
    ['claim ack complete', 'startedAt', '2 delivered, 3 acked, 4 completed'],
  ])('the history of a job is still returned if the record has lost a time, after: %s', async (steps, field, types) => {
    const id = await jobAfter(steps);
    const job = tested.store.keys.job(id);
    const value = (await redis.hget(job, field)) as string;
    await redis.hdel(job, field);
    expect(await typesOf(id)).toEqual(['1 created', ...types.split(', ')]);
    await redis.hset(job, field, value);
  });

  it.each(['claim ack progress', 'claim ack fail', 'claim ack fail claim ack', 'claim ack complete callback', 'kill'])(
    'fsck reports a history whose list is missing or whose length contradicts the state, after: %s',
    async (steps) => {
      const id = await jobAfter(steps);
      const job = tested.store.keys.job(id);
      const key = `${job}:events`;
      const entries = await listOf(id);
      const { seq, flags } = await readState(redis, job);
      const disagree = `record_broken: ${job}: state and history disagree on the number of events`;
      await changeState(redis, job, { seq: entries.length });
      expect(await fsckUnprepared(tested.store)).toEqual([disagree]);
      await changeState(redis, job, { seq, flags: flags.replace('h', '') });
      expect(await fsckUnprepared(tested.store)).toEqual([disagree]);
      await redis.del(key);
      expect(await fsckUnprepared(tested.store)).toEqual([
        expect.stringContaining(`history_incomplete: ${key}: the record shows `),
      ]);
      await changeState(redis, job, { flags });
      expect(await fsckUnprepared(tested.store)).toEqual([
        `entries_lost: ${key}: it has lost all ${entries.length} events`,
      ]);
      await redis.rpush(key, ...entries);
    },
  );

  it.each([
    ['claim ack progress', 'lpop', 'it has 2 of 3 events'],
    ['claim ack progress', 'rpop', 'it has 2 of 3 events'],
    [`claim ack${' event'.repeat(12)}`, 'lpop', 'it has 8 of 14 events'],
  ] as const)('fsck reports a history that has lost an entry, after: %s, and %s', async (steps, pop, detail) => {
    const id = await jobAfter(steps);
    expect(await fsckUnprepared(tested.store)).toEqual([]);
    const key = `${tested.store.keys.job(id)}:events`;
    const entry = (await redis[pop](key)) as string;
    expect(await fsckUnprepared(tested.store)).toEqual([`history_incomplete: ${key}: ${detail}`]);
    await redis[pop === 'lpop' ? 'lpush' : 'rpush'](key, entry);
  });

  it.each([
    ['any number of events', {}],
    ['a number of events', { eventsPerJob: 60 }],
  ])(
    'drops the oldest events beyond the byte limit, but not the newest ten, in a history that keeps %s',
    async (_, more) => {
      tested = storeUnderTest(redis, { eventBytesPerJob: 300_000, ...more });
      const id = await jobAfter('claim ack');
      const send = async (count: number, bytes: number) => {
        const data = 'x'.repeat(bytes);
        for (let n = 0; n < count; n++) await heartbeatJob(tested.store, ANY_SPACE, id, { kind: 'event', data });
        return (await typesOf(id)).length - 1;
      };
      await send(70, 10);
      expect(await send(96, 9_000)).toBeGreaterThan(27);
      expect(await redis.memory('USAGE', `${tested.store.keys.job(id)}:events`, 'SAMPLES', 0)).toBeLessThan(460_000);
      const kept = await send(16, 60_000);
      expect([kept >= 10, kept < 26]).toEqual([true, true]);
    },
  );
});

const connect = () => new Redis(sharedService().redisUrl.replace('unix://', ''), { disconnectTimeout: 50 });
const [commands, reads] = [connect(), connect()];
afterAll(() => {
  commands.disconnect();
  reads.disconnect();
});

it('returns each event once and none after the snapshot if a history is trimmed while it is read', async () => {
  const settings = { keyPrefix: `t-${randomUUID().slice(0, 8)}`, eventsPerJob: 351 };
  const store = createStore(commands, settings, { bulk: reads });
  await prepareRedis(store); // Loads every script, so that each portion is one EVALSHA.
  const { id } = (await createJob(store, 'trim', createJobRequest.parse({ name: 'work' }))).job;
  await claimJob(store, ANY_SPACE, id);
  await ackJob(store, ANY_SPACE, id);
  const append = async (count: number) => {
    for (let i = 0; i < count; i++) await heartbeatJob(store, ANY_SPACE, id, { kind: 'event', data: i });
  };
  await append(400); // Events 4 to 403; 2 to 53 are dropped.

  // Between two portions, append enough events that the next portion starts among dropped ones.
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
