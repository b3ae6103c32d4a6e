import { describe, expect, it } from '@jest/globals';
import { RedisQueue, type Sent } from '../../apps/api/src/limits/redis-queue.js';
import { until } from '../support/until.js';

/** Least time left with which a request is sent. */
const LEAST_MS = 10;

/** A queue whose requests end when the test ends them. */
class HeldQueue {
  readonly queue = new RedisQueue(LEAST_MS);
  /** Names of the requests that were sent to Redis, in that order. */
  readonly sent: string[] = [];
  readonly #ends: (() => void)[] = [];

  send(name: string, { isUrgent = false, owner = 'a', withinMs = 60_000 } = {}): Promise<unknown> {
    const run = () => {
      this.sent.push(name);
      return new Promise((resolve) => this.#ends.push(() => resolve(name)));
    };
    return this.queue.send({ isUrgent, owner, withinMs, run });
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

describe('the queue in front of Redis', () => {
  it('sends urgent requests first, and lets API keys take turns among requests of each kind', async () => {
    const held = new HeldQueue();
    held.fill();
    const all = [
      held.send('create a1'),
      held.send('create a2'),
      held.send('create b1', { owner: 'b' }),
      held.send('ack a1', { isUrgent: true }),
      held.send('ack a2', { isUrgent: true }),
      held.send('ack b1', { owner: 'b', isUrgent: true }),
    ];
    await held.endAll();
    expect(held.sent).toEqual(['ack a1', 'ack b1', 'ack a2', 'create a1', 'create b1', 'create a2']);
    expect(await Promise.all(all)).toContain('create a2');
  });

  it('refuses a request that has waited too long, and neither sends nor keeps it', async () => {
    const held = new HeldQueue();
    held.fill();
    const all = Array.from({ length: 10 }, (_, n) => held.send('late', { owner: String(n % 3), isUrgent: n > 4 }));
    expect(held.queue.waiting).toBe(10);
    for (const one of all) await expect(one).rejects.toMatchObject({ code: 'OVERLOADED' });
    expect(held.queue.waiting).toBe(0);
    await held.endAll();
    expect(held.sent).toEqual([]);
  });

  it('does not refuse a request that it has sent', async () => {
    const held = new HeldQueue();
    held.fill();
    const sent = held.send('in time');
    held.endOldest();
    await until(() => held.sent.length > 0);
    held.fill(); // The limit may have grown.
    await expect(held.send('late')).rejects.toMatchObject({ code: 'OVERLOADED' });
    await held.endAll();
    expect(await sent).toBe('in time');
  });

  it('gives up a request that takes too long, but counts it until Redis has replied', async () => {
    const held = new HeldQueue();
    await expect(held.send('hangs', { withinMs: 20 })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(held.queue.underWay).toBe(1);
    await held.endAll();
  });

  it('refuses a request with too little time left, and does not send it', async () => {
    const held = new HeldQueue();
    const atOnce = held.send('late', { withinMs: LEAST_MS - 1 });
    await expect(atOnce).rejects.toMatchObject({ code: 'OVERLOADED' });
    held.fill();
    const later = expect(held.send('late', { withinMs: LEAST_MS })).rejects.toMatchObject({ code: 'OVERLOADED' });
    await new Promise((resolve) => setTimeout(resolve, 2));
    await held.endAll();
    await later;
    expect(held.sent).toEqual([]);
  });

  it('stops counting a request once it waits for something other than Redis', async () => {
    const queue = new RedisQueue(LEAST_MS);
    const run = async ({ stopCounting }: Sent) => {
      stopCounting();
      stopCounting();
      return queue.underWay;
    };
    expect(await queue.send({ isUrgent: false, owner: 'a', withinMs: 60_000, run })).toBe(0);
    expect(queue.underWay).toBe(0);
  });
});
