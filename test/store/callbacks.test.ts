import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ANY_SPACE, expireDue, failJob, findDue, newJobId, partitionOf, relayCallbacks } from '@yardmaster/store';
import { fsck } from '../support/fsck.js';
import { subscribe } from '../support/subscribe.js';
import { until } from '../support/until.js';
import { connections, type OwingStore, owingStore, timed } from './owing.js';

const { each, quit } = connections();
afterAll(quit);

describe.each(each)('owed callbacks on %s', (_name, redis) => {
  const tag = partitionOf('owing');
  let owing: OwingStore;
  beforeEach(() => {
    owing = owingStore(redis);
  });
  afterEach(async () => expect(await fsck(redis, owing.prefix)).toEqual([]));

  const relay = () => relayCallbacks(owing.store, tag);

  it('are found by partition, apart from deadlines, and stay as they are', async () => {
    const { store, owe, run } = owing;
    expect(await findDue(store)).toEqual({ deadlines: [], callbacks: [], faults: [] });
    await owe();
    await run({}, 'elsewhere');
    await redis.zadd(store.keys.deadlines(partitionOf('elsewhere')), 1, newJobId('elsewhere'));
    const found = { deadlines: [partitionOf('elsewhere')], callbacks: [tag], faults: [] };
    expect(await findDue(store)).toEqual(found);
    expect(await findDue(store)).toEqual(found);
    await expireDue(store, partitionOf('elsewhere'));
    await relay();
    expect(await findDue(store)).toEqual({ deadlines: [], callbacks: [], faults: [] });
  });

  it('are announced as they arise', async () => {
    const subscriber = redis.duplicate();
    const heard: string[][] = [];
    subscriber.on('message', (...message) => heard.push(message));
    await subscribe(subscriber, owing.store.keys.owedChannel(tag));
    const id = await owing.owe();
    await until(() => heard.length > 0);
    expect(heard).toEqual([[owing.store.keys.owedChannel(tag), '1']]);
    expect(await relay()).toEqual({ isMore: false, debts: [{ jobId: id, round: 0 }], overdue: [] });
    subscriber.disconnect();
  });

  it('arise from a job that is completed or dead and has a URL, and from no other', async () => {
    const { store, run, owe } = owing;
    const completed = await owe();
    const dead = await run({ maxRetries: 0 });
    const timedOut = await run({ maxRetries: 0, timeoutSeconds: 0.001 });
    await owe({ callbackUrl: undefined });
    await failJob(store, ANY_SPACE, await run(), 'to be retried');
    await failJob(store, ANY_SPACE, dead, 'for good');
    await until(async () => (await expireDue(store, tag)).timedOut === 1);
    const { debts } = await relay();
    expect(debts.map(({ jobId }) => jobId).sort()).toEqual([completed, dead, timedOut].sort());
  });

  it('are relayed to one caller each, the oldest first, 100 in a step', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 105; n++) ids.push(await owing.owe());
    // Some were owed in the same millisecond, which has no order.
    for (const [n, id] of ids.entries()) await redis.zadd(owing.store.keys.callbacks(tag), n + 1, id);
    const steps = await Promise.all([relay(), relay(), relay()]);
    const expected = ids.map((jobId) => ({ jobId, round: 0 }));
    // On a busy machine the first of them are overdue by now, and still the oldest.
    const given = steps.map(({ isMore, debts, overdue }) => ({ isMore, debts: [...overdue, ...debts] }));
    expect(given).toEqual([
      { isMore: true, debts: expected.slice(0, 100) },
      { isMore: false, debts: expected.slice(100) },
      { isMore: false, debts: [] },
    ]);
  });

  it.each([
    ['4 s', 0, 4_000],
    ['4 s while it is young', 3_000, 4_000],
    ['as long as it has waited', 10_000, 10_000],
    ['5 minutes at most', 3_600_000, 300_000],
  ])('are looked at again after %s', async (_when, waitedMs, againMs) => {
    const id = await owing.owe();
    await owing.passed(id, waitedMs);
    const { outcome, before, after } = await timed(owing, relay);
    const debt = { jobId: id, round: 0 };
    expect(outcome).toEqual({
      isMore: false,
      ...(waitedMs < 4_000 ? { debts: [debt], overdue: [] } : { debts: [], overdue: [debt] }),
    });
    const lookAt = await owing.lookAt(id);
    expect(lookAt).toBeGreaterThanOrEqual(before + againMs);
    // The time that passes here counts as waited, too: once since the test looked at the clock, once before it.
    expect(lookAt).toBeLessThanOrEqual(after + againMs + 2_000);
    expect(await relay()).toEqual({ isMore: false, debts: [], overdue: [] });
  });

  it('are dropped without a record', async () => {
    await redis.zadd(owing.store.keys.callbacks(tag), 1, newJobId('owing'));
    expect(await relay()).toEqual({ isMore: false, debts: [], overdue: [] });
    expect(await redis.zcard(owing.store.keys.callbacks(tag))).toBe(0);
  });
});
