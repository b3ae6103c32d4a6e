import { expect, it } from '@jest/globals';
import { RedisQueue, type RedisSlot } from '../../apps/api/src/limits/redis-queue.js';
import { until } from '../support/until.js';

/** Least time left with which a request is sent. */
const LEAST_MS = 10;

/** A queue whose requests end only when the test ends them. */
class PausedQueue {
  readonly queue = new RedisQueue(LEAST_MS);
  /** Names of the requests that were sent to Redis, in that order. */
  readonly sent: string[] = [];
  readonly #ends: (() => void)[] = [];

  send(name: string, { isUrgent = false, owner = 'a', withinMs = 60_000 } = {}): Promise<unknown> {
    const run = () => {
      this.sent.push(name);
      return new Promise((resolve) => this.#ends.push(() => resolve(name)));
    };
    return this.queue.withSlot({ isUrgent, owner, withinMs, run });
  }

  /** Send as many requests as may be under way; they do not end by themselves. */
  fill(): void {
    while (this.queue.underWay < this.queue.limit) void this.send('first').catch(() => undefined);
    this.sent.length = 0;
  }

  /** End the oldest request, so that one that waits begins. */
  endOldest(): void {
    this.#ends.shift()?.();
  }

  /** End requests one by one, until none is left. */
  async endAll(): Promise<void> {
    while (this.queue.underWay > 0) {
      this.endOldest();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

it('sends urgent Redis requests first, and each kind fairly by API key', async () => {
  const paused = new PausedQueue();
  paused.fill();
  const all = [
    paused.send('create a1'),
    paused.send('create a2'),
    paused.send('create b1', { owner: 'b' }),
    paused.send('ack a1', { isUrgent: true }),
    paused.send('ack a2', { isUrgent: true }),
    paused.send('ack b1', { owner: 'b', isUrgent: true }),
  ];
  await paused.endAll();
  expect(paused.sent).toEqual(['ack a1', 'ack b1', 'ack a2', 'create a1', 'create b1', 'create a2']);
  expect(await Promise.all(all)).toContain('create a2');
});

it('releases the slot of a Redis request whose function throws', async () => {
  const { queue } = new PausedQueue();
  const run = (): never => {
    throw new Error('refused');
  };
  const refused = queue.withSlot({ isUrgent: false, owner: 'a', withinMs: 60_000, run });
  await expect(refused).rejects.toThrow('refused');
  expect(queue.underWay).toBe(0);
});

it('refuses a Redis request that has waited too long, and does not send it later', async () => {
  const paused = new PausedQueue();
  paused.fill();
  const all = Array.from({ length: 10 }, (_, n) => paused.send('late', { owner: String(n % 3), isUrgent: n > 4 }));
  expect(paused.queue.waiting).toBe(10);
  for (const one of all) await expect(one).rejects.toMatchObject({ code: 'OVERLOADED' });
  expect(paused.queue.waiting).toBe(0);
  await paused.endAll();
  expect(paused.sent).toEqual([]);
});

it('waits for a Redis request that it has sent', async () => {
  const paused = new PausedQueue();
  paused.fill();
  const sent = paused.send('in time');
  paused.endOldest();
  await until(() => paused.sent.length > 0);
  paused.fill(); // The limit may have grown.
  await expect(paused.send('late')).rejects.toMatchObject({ code: 'OVERLOADED' });
  await paused.endAll();
  expect(await sent).toBe('in time');
});

it('refuses a Redis request that takes too long, but keeps its slot until Redis has replied', async () => {
  const paused = new PausedQueue();
  await expect(paused.send('hangs', { withinMs: 20 })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(paused.queue.underWay).toBe(1);
  await paused.endAll();
});

it('refuses a Redis request that has too little time left, and does not send it', async () => {
  const paused = new PausedQueue();
  const atOnce = paused.send('late', { withinMs: LEAST_MS - 1 });
  await expect(atOnce).rejects.toMatchObject({ code: 'OVERLOADED' });
  paused.fill();
  const later = expect(paused.send('late', { withinMs: LEAST_MS })).rejects.toMatchObject({ code: 'OVERLOADED' });
  await new Promise((resolve) => setTimeout(resolve, 2));
  await paused.endAll();
  await later;
  expect(paused.sent).toEqual([]);
});

it('releases the slot of a Redis request once it waits for something other than Redis', async () => {
  const queue = new RedisQueue(LEAST_MS);
  const run = async ({ release }: RedisSlot) => {
    release();
    release();
    return queue.underWay;
  };
  expect(await queue.withSlot({ isUrgent: false, owner: 'a', withinMs: 60_000, run })).toBe(0);
  expect(queue.underWay).toBe(0);
});
