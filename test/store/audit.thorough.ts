import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Act, ANY_SPACE, AUDIT_STREAMS, appendAct, listActs, type Store } from '@yardmaster/store';
import { fsckUnprepared, storeUnderTest, withConnection } from './store-under-test.js';

const redis = withConnection();
let store: Store;
beforeEach(() => {
  ({ store } = storeUnderTest(redis));
});

const actOf = (action: string, fields: Partial<Act> = {}): Act => ({
  ...{ keyId: 'k', keyName: 'operator', action, spaceId: null, jobId: null, address: '127.0.0.1', requestId: 'r' },
  ...{ details: {}, ...fields },
});

/** Append acts, some at once. */
async function append(count: number, act: (n: number) => Act): Promise<void> {
  for (let from = 0; from < count; from += 500) {
    const some = Array.from({ length: Math.min(500, count - from) }, (_, i) => act(from + i));
    await Promise.all(some.map((each) => appendAct(store, each)));
  }
}

/** Read all acts, page by page. */
async function all(limit = 100, spaceId: string | null = null) {
  const entries: Awaited<ReturnType<typeof listActs>>['entries'] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await listActs(store, { ...ANY_SPACE, spaceId }, { limit, cursor });
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    entries.push(...page.entries);
    if (page.nextCursor === null) return entries;
    cursor = page.nextCursor;
  }
}

/** Return how many acts there are of each action and space. */
async function numbers(): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const { action, spaceId } of await all()) {
    const what = `${action} ${spaceId}`;
    found[what] = (found[what] ?? 0) + 1;
  }
  return found;
}

const kill = (spaceId: string) => actOf('job.kill', { spaceId, jobId: 'j' });

describe('the audit with more acts than it keeps', () => {
  afterEach(async () => expect(await fsckUnprepared(store)).toEqual([]));

  it('keeps the audit entries of other spaces, keys, settings and secrets after 10,300 kills in one space', async () => {
    const others = ['key.create', 'key.rotate', 'secret.read', 'space.settings', 'job.delete', 'space.pause'];
    for (const action of others) await appendAct(store, actOf(action, { spaceId: 'quiet' }));
    await append(10_300, () => kill('loud'));
    for (const action of others) await appendAct(store, actOf(action));
    const kept = Object.fromEntries(
      others.flatMap((action) => [`${action} quiet`, `${action} null`].map((of) => [of, 1])),
    );
    expect(await numbers()).toEqual({ ...kept, 'job.kill loud': 10_000 - 4 });
  });

  it('drops the oldest audit entries of the two largest spaces until they have about equally many', async () => {
    await append(7_000, (n) => actOf('job.kill', { spaceId: 'first', jobId: `j${n}` }));
    await append(7_000, (n) => actOf('job.kill', { spaceId: 'second', jobId: `j${n}` }));
    expect(await numbers()).toEqual({ 'job.kill first': 4_999, 'job.kill second': 5_001 });
    const left = (await all(100, 'first')).map(({ jobId }) => jobId);
    expect(left).toEqual(Array.from({ length: 4_999 }, (_, i) => `j${6_999 - i}`));
  });

  it('counts refused access separately from spaces, so that it displaces only other refused access', async () => {
    await appendAct(store, kill('quiet'));
    await append(10_100, () => actOf('access.denied', { spaceId: 'quiet', details: { status: 403, count: 1 } }));
    await append(2, () => kill('loud'));
    expect(await numbers()).toEqual({ 'access.denied quiet': 9_997, 'job.kill quiet': 1, 'job.kill loud': 2 });
  });

  it('lists the audit entries of both streams in order and each once, even within one millisecond', async () => {
    const times = ['1785576607009-0', '1785576607009-1', '1785576607009-2', '1785576607010-0'];
    for (const stream of AUDIT_STREAMS) {
      for (const id of times)
        await redis.xadd(
          store.keys.audit(stream),
          id,
          'at',
          '1785576607009',
          'details',
          JSON.stringify({ id, stream }),
        );
    }
    const expected = [...times].reverse().flatMap((id) => ['jobs', 'keys'].map((stream) => ({ id, stream })));
    for (const limit of [1, 2, 3, 5, 8, 100]) {
      const entries = await all(limit);
      expect(entries.map(({ details }) => details)).toEqual(expected);
      const numbersOf = (id: string) => id.split('-').map(Number) as [number, number];
      const sorted = [...entries].sort(({ id: a }, { id: b }) => {
        const [[ms, seq], [otherMs, otherSeq]] = [numbersOf(a), numbersOf(b)];
        return otherMs - ms || otherSeq - seq;
      });
      expect(entries).toEqual(sorted);
    }
    for (const stream of AUDIT_STREAMS) await redis.del(store.keys.audit(stream));
  });
});

it('keeps at most 10,000 audit entries of a stream whose lists of owners are lost', async () => {
  const stream = store.keys.audit('jobs');
  await append(10_000, () => kill('loud'));
  await redis.del(`${stream}/owners`, `${stream}/of/loud`);
  await append(3, () => kill('loud'));
  expect(await redis.xlen(stream)).toBe(10_000);
});
