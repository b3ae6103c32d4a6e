import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type CallbackAttempt, newJobId, partitionOf, redisNow, relayCallbacks } from '@yardmaster/store';
import { keysOf } from '../support/fsck.js';
import { subscribe } from '../support/subscribe.js';
import { until } from '../support/until.js';
import { fsckUnprepared, HOOK, type StoreUnderTest, storeUnderTest, withConnection } from './store-under-test.js';

// The model test compares every verb of callbacks with the specification. These tests cover what it cannot reach.

const redis = withConnection();

describe('pending callbacks', () => {
  const tag = partitionOf('calling');
  let tested: StoreUnderTest;
  beforeEach(() => {
    tested = storeUnderTest(redis);
  });
  afterEach(async () => expect(await fsckUnprepared(tested.store)).toEqual([]));

  const relay = () => relayCallbacks(tested.store, tag);
  const lookAt = (id: string, at: number | string) => redis.zadd(tested.store.keys.callbacks(tag), at, id);

  it('the end of a job publishes its pending callback', async () => {
    const channel = tested.store.keys.pendingChannel(tag);
    const subscriber = redis.duplicate();
    const published: string[][] = [];
    subscriber.on('message', (...message) => published.push(message));
    await subscribe(subscriber, channel);
    await tested.completeWithCallback();
    await until(() => published.length > 0);
    expect(published).toEqual([[channel, '1']]);
    subscriber.disconnect();
  });

  it('each pending callback is returned to one relay, oldest first, at most 100 at a time', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 105; n++) ids.push(await tested.completeWithCallback());
    // Some jobs ended in the same millisecond, so set an order.
    for (const [n, id] of ids.entries()) await lookAt(id, n + 1);
    const steps = await Promise.all([relay(), relay(), relay()]);
    const expected = ids.map((jobId) => ({ jobId, series: 0, url: HOOK }));
    // On a busy machine the first ones are already overdue, and still the oldest.
    const given = steps.map(({ isMore, callbacks, overdue }) => ({ isMore, callbacks: [...overdue, ...callbacks] }));
    expect(given).toEqual([
      { isMore: true, callbacks: expected.slice(0, 100) },
      { isMore: false, callbacks: expected.slice(100) },
      { isMore: false, callbacks: [] },
    ]);
  });

  it('a callback of a job without a record is dropped, and its outcome is not recorded', async () => {
    const id = newJobId('calling');
    await lookAt(id, 1);
    expect(await relay()).toEqual({ isMore: false, callbacks: [], overdue: [] });
    expect([await tested.record(id, 1, null), await tested.record(id, 1, 1_000)]).toEqual([false, false]);
    for (const key of await keysOf(redis, tested.prefix)) expect(await redis.zcard(key)).toBe(0);
  });

  it('a pending callback accepts only the outcome of the attempt with the latest lease', async () => {
    const { begin, record, makeDue } = tested;
    const id = await tested.completeWithCallback();
    const first = (await begin(id)) as CallbackAttempt;
    // The second lease begins in a later millisecond, so that the two differ.
    await until(async () => (await redisNow(tested.store)) > first.nowMs);
    await makeDue(id, 0);
    await begin(id);
    expect(await record(id, 1, null, { lease: first.lease })).toBe(false);
    expect([await record(id, 1, 60_000), await record(id, 1, null)]).toEqual([true, false]);
  });
});
