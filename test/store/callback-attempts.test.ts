import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ANY_SPACE,
  CALLBACK_LEASE_MS,
  type CallbackAttempt,
  failJob,
  getJob,
  newJobId,
  redisNow,
} from '@yardmaster/store';
import { fsck, keysOf } from '../support/fsck.js';
import { until } from '../support/until.js';
import { connections, HOOK, type OwingStore, owingStore, timed } from './owing.js';

const { each, quit } = connections();
afterAll(quit);

describe.each(each)('on %s', (_name, redis) => {
  let owing: OwingStore;
  beforeEach(() => {
    owing = owingStore(redis);
  });
  afterEach(async () => expect(await fsck(redis, owing.prefix)).toEqual([]));

  const read = (id: string) => getJob(owing.store, ANY_SPACE, id);
  const expectBetween = (value: number, from: number, to: number) => {
    expect(value).toBeGreaterThanOrEqual(from);
    expect(value).toBeLessThanOrEqual(to);
  };

  describe('an attempt', () => {
    it('of a completed job has all that its receiver is told', async () => {
      const id = await owing.owe({ callbackHeaders: { 'X-One': '1' } });
      const { outcome, before, after } = await timed(owing, () => owing.begin(id));
      expect(outcome).toEqual({
        jobId: id,
        spaceId: 'owing',
        name: 'work',
        status: 'completed',
        attemptNumber: 1,
        result: '{"ok":[]}',
        endedAt: (await read(id)).completedAt,
        url: HOOK,
        headers: { 'X-One': '1' },
        attempt: 1,
        lease: expect.stringMatching(/^\d+$/),
        nowMs: expect.any(Number),
      });
      expectBetween((outcome as CallbackAttempt).nowMs, before, after);
    });

    it('of a dead job tells the error of its last attempt', async () => {
      const id = await owing.run({ maxRetries: 0 });
      await failJob(owing.store, ANY_SPACE, id, { why: [] });
      expect(await owing.begin(id)).toMatchObject({ status: 'dead', result: '{"error":{"why":[]}}', headers: {} });
    });

    it('belongs to one caller until its lease is over, and can then be taken again', async () => {
      const { begin, passed, lookAt } = owing;
      const id = await owing.owe();
      const { outcome, before, after } = await timed(owing, () => Promise.all([begin(id), begin(id)]));
      // It may be over long before the lease is.
      expect(outcome).toMatchObject([{ attempt: 1 }, { waitMs: 2_000 }]);
      // Nor does the relay look at it before.
      expectBetween(await lookAt(id), before + CALLBACK_LEASE_MS, after + CALLBACK_LEASE_MS);
      await passed(id, 0);
      expect(await begin(id)).toMatchObject({ attempt: 1 });
    });

    it('is not to be made of what is not owed', async () => {
      const { begin, run, owe } = owing;
      const nothing = { waitMs: null };
      expect(await begin(newJobId('owing'))).toEqual(nothing);
      expect(await begin(await run())).toEqual(nothing);
      expect(await begin(await owe({ callbackUrl: undefined }))).toEqual(nothing);
      expect(await begin(await owe(), 1)).toEqual(nothing);
    });
  });

  describe('an outcome', () => {
    it('that is final settles the debt, once, and moves nothing else of the job', async () => {
      const id = await owing.owe();
      const { events, ...before } = await read(id);
      await owing.begin(id);
      expect([await owing.record(id, 1, null), await owing.record(id, 1, null)]).toEqual([true, false]);
      const { events: eventsAfter, ...after } = await read(id);
      expect(after).toEqual(before);
      const data = { url: HOOK, statusCode: 200, attempt: 1, willRetry: false };
      const event = { id: `${id}.5`, jobId: id, spaceId: 'owing', type: 'callback_sent', data };
      expect(eventsAfter).toEqual([...events, { ...event, createdAt: expect.any(String) }]);
      expect(await owing.begin(id)).toEqual({ waitMs: null });
      expect(await redis.zcard(owing.store.keys.callbacks(id.slice(0, 2)))).toBe(0);
    });

    it('that is not final leaves a debt that is due after the delay and looked at 4 s later', async () => {
      const { begin, record, passed, lookAt } = owing;
      const id = await owing.owe();
      await begin(id);
      const recorded = await timed(owing, () => record(id, 1, 60_000));
      const asked = await timed(owing, () => begin(id));
      const { waitMs } = asked.outcome as { waitMs: number };
      expectBetween(waitMs, recorded.before + 60_000 - asked.after, recorded.after + 60_000 - asked.before);
      expectBetween(await lookAt(id), recorded.before + 64_000, recorded.after + 64_000);
      await passed(id, 0);
      expect(await begin(id)).toMatchObject({ attempt: 2 });
      expect(await record(id, 2, null)).toBe(true);
    });

    it('of an attempt that was repeated after its lease counts for whoever has it now', async () => {
      const { begin, record, passed, lookAt } = owing;
      const id = await owing.owe();
      const first = (await begin(id)) as CallbackAttempt;
      // The lease of another begins later, which it does not where a test ends the first one at once.
      await until(async () => (await redisNow(owing.store)) > first.nowMs);
      await passed(id, 0);
      await begin(id);
      const lookedAt = await lookAt(id);
      expect(await record(id, 1, null, { lease: first.lease })).toBe(false);
      expect(await lookAt(id)).toBe(lookedAt);
      expect([await record(id, 1, 60_000), await record(id, 1, null)]).toEqual([true, false]);
      await passed(id, 0);
      await begin(id);
      expect([await record(id, 2, null, { lease: first.lease }), await record(id, 2, null)]).toEqual([false, true]);
      const recorded = (await read(id)).events.slice(4).map(({ data }) => (data as { attempt: number }).attempt);
      expect(recorded).toEqual([1, 2]);
    });

    it('counts although its lease is over, as long as nobody else has taken it', async () => {
      const id = await owing.owe();
      await owing.begin(id);
      await redis.zadd(owing.store.keys.callbacks(id.slice(0, 2)), 1, id);
      expect(await owing.record(id, 1, null)).toBe(true);
    });

    it('of a job that is gone writes nothing', async () => {
      const id = newJobId('owing');
      expect([await owing.record(id, 1, null), await owing.record(id, 1, 1_000)]).toEqual([false, false]);
      expect(await keysOf(redis, owing.prefix)).toEqual([]);
    });

    it('takes the place of the oldest event in a full history', async () => {
      owing = owingStore(redis, { eventsPerJob: 4 });
      const id = await owing.owe();
      await owing.begin(id);
      await owing.record(id, 1, null);
      expect((await read(id)).events.map((event) => [event.id, event.type])).toEqual([
        [`${id}.1`, 'created'],
        [`${id}.3`, 'acked'],
        [`${id}.4`, 'completed'],
        [`${id}.5`, 'callback_sent'],
      ]);
    });
  });
});
