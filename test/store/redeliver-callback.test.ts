import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Status } from '@yardmaster/protocol';
import {
  ANY_SPACE,
  claimJob,
  expireDue,
  failJob,
  getJob,
  killJob,
  newJobId,
  partitionOf,
  redeliverCallback,
  relayCallbacks,
} from '@yardmaster/store';
import { fsck } from '../support/fsck.js';
import { connections, type OwingStore, owingStore } from './owing.js';

const { each, quit } = connections();
afterAll(quit);

describe.each(each)('redelivery on %s', (_name, redis) => {
  const tag = partitionOf('owing');
  let owing: OwingStore;
  beforeEach(() => {
    owing = owingStore(redis);
  });
  afterEach(async () => expect(await fsck(redis, owing.prefix)).toEqual([]));

  const redeliver = (id: string, spaceId: string | null = null) => redeliverCallback(owing.store, { spaceId }, id);
  const relay = async () => (await relayCallbacks(owing.store, tag)).debts;
  /** A job whose callback had these attempts; the last one settled it, or left a retry to wait for. */
  async function attempted(times: number, { settled = true } = {}) {
    const id = await owing.owe();
    for (let attempt = 1; attempt <= times; attempt++) {
      await owing.begin(id);
      await owing.record(id, attempt, attempt === times && settled ? null : 3_600_000);
      if (attempt < times) await owing.passed(id, 0);
    }
    return id;
  }

  const REFUSALS: [Status, hook: boolean, code: string][] = [
    ['pending', true, 'JOB_NOT_ENDED'],
    ['delivered', true, 'JOB_NOT_ENDED'],
    ['running', true, 'JOB_NOT_ENDED'],
    ['running', false, 'JOB_NOT_ENDED'],
    ['completed', false, 'NO_CALLBACK'],
    ['dead', false, 'NO_CALLBACK'],
    ['killed', true, 'NO_CALLBACK'],
    ['killed', false, 'NO_CALLBACK'],
  ];

  it.each(REFUSALS)('is refused for a %s job (callbackUrl: %s) with %s', async (status, hook, code) => {
    const { store, create, run, owe } = owing;
    const fields = { maxRetries: 0, ...(hook ? {} : { callbackUrl: undefined }) };
    const id = await (status === 'completed'
      ? owe(fields)
      : status === 'running' || status === 'dead'
        ? run(fields)
        : create(fields));
    if (status === 'delivered') await claimJob(store, ANY_SPACE, id);
    if (status === 'dead') await failJob(store, ANY_SPACE, id, 'x');
    if (status === 'killed') await killJob(store, ANY_SPACE, id, null);
    await expect(redeliver(id)).rejects.toMatchObject({ code, extras: { jobStatus: status } });
    expect(await relay()).toEqual([]);
  });

  it('is refused for a job that is not there, or of another space', async () => {
    const id = await attempted(1);
    await expect(redeliver(newJobId('owing'))).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });
    await expect(redeliver(id, 'elsewhere')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(await relay()).toEqual([]);
    await redeliver(id, 'owing');
    expect(await relay()).toHaveLength(1);
  });

  it('begins a new round of a settled debt, counting on, and changes nothing that the job shows', async () => {
    const id = await attempted(2);
    const before = await getJob(owing.store, ANY_SPACE, id);
    await redeliver(id);
    expect(await getJob(owing.store, ANY_SPACE, id)).toEqual(before);
    expect(await relay()).toEqual([{ jobId: id, round: 2 }]);
    expect(await owing.begin(id, 0)).toEqual({ waitMs: null });
    expect(await owing.begin(id, 2)).toMatchObject({ attempt: 3 });
    expect(await owing.record(id, 3, null, { round: 2 })).toBe(true);
    expect(await owing.begin(id, 2)).toEqual({ waitMs: null });
  });

  it('takes the place of a retry that is waited for', async () => {
    const id = await attempted(1, { settled: false });
    expect(await relay()).toEqual([]);
    await redeliver(id);
    expect(await relay()).toEqual([{ jobId: id, round: 1 }]);
    expect(await owing.begin(id, 0)).toEqual({ waitMs: null });
    expect(await owing.begin(id, 1)).toMatchObject({ attempt: 2 });
  });

  it.each([
    ['the last of its round', null],
    ['to be retried', 3_600_000],
  ])('waits for an attempt that is being made, %s, and then begins anew', async (_what, retryMs) => {
    const id = await owing.owe();
    await owing.begin(id);
    await redeliver(id);
    expect(await owing.begin(id, 0)).toEqual({ waitMs: null });
    expect(await owing.begin(id, 1)).toEqual({ waitMs: 2_000 });
    expect(await owing.record(id, 1, retryMs)).toBe(true);
    expect(await relay()).toEqual([{ jobId: id, round: 1 }]);
    expect(await owing.begin(id, 1)).toMatchObject({ attempt: 2 });
    expect(await owing.record(id, 2, null, { round: 1 })).toBe(true);
    expect(await owing.begin(id, 1)).toEqual({ waitMs: null });
  });

  it('does not wait for an attempt whose lease is over', async () => {
    const id = await owing.owe();
    await owing.begin(id);
    await owing.passed(id, 1);
    await redis.zadd(owing.store.keys.callbacks(tag), '+inf', id); // Nobody looks at it.
    await redeliver(id);
    expect(await relay()).toEqual([{ jobId: id, round: 0 }]);
    expect(await owing.begin(id)).toMatchObject({ attempt: 1 });
  });

  it('is not settled by the outcome of an attempt whose lease was over when it was asked for', async () => {
    const { begin, passed, record } = owing;
    const id = await owing.owe();
    await begin(id);
    await passed(id, 1);
    const lease = (await redis.hget(owing.store.keys.job(id), 'callbackLeasedUntil')) as string;
    await redeliver(id);
    expect(await record(id, 1, null, { lease })).toBe(false);
    expect(await begin(id)).toMatchObject({ attempt: 1 });
    expect(await record(id, 1, null)).toBe(true);
  });

  it('keeps the job until it is settled, whatever its retention', async () => {
    owing = owingStore(redis, { retentionMs: 60_000 });
    const deadlines = owing.store.keys.deadlines(tag);
    const purge = async (id: string) => {
      await redis.zadd(deadlines, 1, id);
      return (await expireDue(owing.store, tag)).purged;
    };
    const id = await attempted(1);
    await redeliver(id);
    expect(await purge(id)).toBe(0);
    await owing.begin(id, 1);
    expect(await purge(id)).toBe(0);
    await owing.record(id, 2, null, { round: 1 });
    expect(await purge(id)).toBe(1);
    await expect(redeliver(id)).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });
    expect(await owing.begin(id, 1)).toEqual({ waitMs: null });
  });
});
