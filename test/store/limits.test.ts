import { expect, it } from '@jest/globals';
import { FairQueue } from '@yardmaster/store';
import { createReadLimiter } from '../../packages/store/src/limits/read-limiter.js';

/** Make a limiter of four concurrent reads, each of which ends when the test calls `end`. */
function limiterOfFour(longestWaitMs = 60_000) {
  const withReadSlot = createReadLimiter(4, longestWaitMs);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    started,
    /** @returns how it ended */
    begin(name: string) {
      const work = () => {
        started.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      };
      return withReadSlot(name.slice(0, 1), work).then(
        () => 'done',
        ({ code }) => code,
      );
    },
    async end(name: string) {
      ends.get(name)?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

it('the read limiter runs four reads concurrently, all for one tenant if no other tenant waits', async () => {
  const { begin, started, end } = limiterOfFour();
  const all = ['a1', 'a2', 'a3', 'a4', 'a5'].map(begin);
  expect(started).toEqual(['a1', 'a2', 'a3', 'a4']);
  await end('a2');
  expect(started).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
  for (const name of started) await end(name);
  expect(await Promise.all(all)).toEqual(Array(5).fill('done'));
});

it('the read limiter prefers owners without a running read', async () => {
  const { begin, started, end } = limiterOfFour();
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1', 'b2', 'c1']) void begin(name);
  for (const name of ['a1', 'a2', 'a3', 'a4']) await end(name);
  expect(started.slice(4)).toEqual(['b1', 'c1', 'a5', 'b2']);
});

it('the read limiter continues after a failed read', async () => {
  const withReadSlot = createReadLimiter(1, 60_000);
  const fails = withReadSlot('a', () => Promise.reject(new Error('no')));
  await expect(fails).rejects.toThrow('no');
  expect(await withReadSlot('a', () => Promise.resolve('yes'))).toBe('yes');
});

it('the read limiter refuses a read that has waited too long, and does not start it', async () => {
  const { begin, started, end } = limiterOfFour(50);
  const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1'].map(begin);
  expect(await Promise.all(all.slice(4))).toEqual(['OVERLOADED', 'OVERLOADED']);
  for (const name of ['a1', 'a2', 'a3', 'a4']) await end(name);
  expect(started).toEqual(['a1', 'a2', 'a3', 'a4']);
});

it('the read limiter stops a long read between its steps once its caller has given up', async () => {
  const steps = createReadLimiter(1, 20)('a', async ({ check, until }) => {
    for (;;) {
      check();
      if (performance.now() > until + 60_000) return;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  });
  await expect(steps).rejects.toMatchObject({ code: 'OVERLOADED' });
});

/** Take all items of a queue, in order. */
function takenFrom(queue: FairQueue<string>, isLast?: (tenant: string) => boolean): string[] {
  const taken: string[] = [];
  for (let next = queue.shift(isLast); next; next = queue.shift(isLast)) taken.push(`${next.tenant}${next.item}`);
  return taken;
}

function queueOf(...entries: string[]): FairQueue<string> {
  const queue = new FairQueue<string>();
  for (const [tenant = '', item = ''] of entries) queue.push(tenant, item);
  return queue;
}

it('a fair queue returns the oldest item of each tenant in rotation', () => {
  expect(takenFrom(queueOf('a1', 'a2', 'a3', 'b1', 'c1', 'c2'))).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
});

it('a fair queue returns items of low-priority tenants last', () => {
  expect(takenFrom(queueOf('a1', 'a2', 'b1', 'b2'), (tenant) => tenant === 'a')).toEqual(['b1', 'b2', 'a1', 'a2']);
});

it('a fair queue counts its items, and returns undefined when it is empty', () => {
  const queue = queueOf('a1', 'b1');
  expect(queue.size).toBe(2);
  takenFrom(queue);
  expect([queue.size, queue.shift()]).toEqual([0, undefined]);
});

it('a fair queue makes a tenant miss turns for work beyond one unit', () => {
  const queue = new FairQueue<number>();
  for (const item of [1, 2]) queue.push('large', item, 3);
  for (const item of [1, 2, 3, 4]) queue.push('small', item);
  queue.push('half', 1, 1.5);
  queue.push('half', 2, 1.5);
  queue.push('half', 3, 1.5);
  const expected = ['large1', 'small1', 'half1', 'small2', 'half2', 'small3', 'large2', 'small4', 'half3'];
  expect(takenFrom(queue as never)).toEqual(expected);
});

it('a fair queue charges a tenant afterwards, and forgets what it used while it was alone', () => {
  const queue = new FairQueue<number>();
  for (const item of [1, 2, 3]) queue.push('alone', item, 50);
  expect([queue.shift()?.item, queue.shift()?.item]).toEqual([1, 2]);
  queue.push('other', 1);
  queue.push('other', 2);
  queue.charge('other', 49);
  expect([queue.shift(), queue.shift()].map((next) => next?.tenant)).toEqual(['alone', 'other']);
});

it('a fair queue drops the oldest item of a tenant without changing the rotation', () => {
  const queue = queueOf('a1', 'a2', 'b1', 'c1');
  queue.drop('a');
  queue.drop('b');
  queue.drop('b');
  expect([queue.size, takenFrom(queue)]).toEqual([2, ['a2', 'c1']]);
});
