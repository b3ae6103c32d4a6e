import { EventEmitter } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { expect, it } from '@jest/globals';
import { ResponseBudget } from '../../apps/api/src/limits/budgets.js';
import { AdaptiveLimit, RedisQueue, type RedisSlot } from '../../apps/api/src/limits/redis-queue.js';
import { PER_JOB, PER_TAG } from '../../apps/api/src/limits/units.js';
import { until } from '../support/until.js';

/** Return the limit after some seconds with 100 requests in each 100 ms. @param msOf returns how long one takes */
function limitAfter(seconds: number, msOf: (nth: number) => number, { isReached = true } = {}): number {
  const limit = new AdaptiveLimit();
  for (let now = 0; now < seconds * 1_000; now += 100) {
    if (isReached) limit.recordReached();
    for (let nth = 0; nth < 100; nth++) limit.record(msOf(nth), now, 100);
  }
  return limit.value;
}

const first = new AdaptiveLimit().value;

it('raises the limit of concurrent Redis requests when it is reached and requests are quick', () => {
  expect(limitAfter(3, () => 2)).toBeGreaterThan(first);
});

it('keeps the limit of concurrent Redis requests unless it is reached', () => {
  expect(limitAfter(3, () => 2, { isReached: false })).toBe(first);
});

it('lowers the limit of concurrent Redis requests to no less than 8 while most requests are slow', () => {
  const slow = (nth: number) => (nth < 40 ? 2 : 400);
  expect(limitAfter(1, slow)).toBeLessThan(first);
  expect(limitAfter(60, slow)).toBe(8);
});

it('keeps the limit of concurrent Redis requests when a few requests are slow, or Redis is far away', () => {
  expect(limitAfter(3, (nth) => (nth < 60 ? 2 : 400))).toBeGreaterThan(first);
  expect(limitAfter(3, () => 400)).toBeGreaterThan(first);
});

it('never raises the limit of concurrent Redis requests above 1,000', () => {
  expect(limitAfter(60, () => 2)).toBe(1_000);
});

it('forgets the best Redis latency after a minute of slower replies', () => {
  const limit = new AdaptiveLimit();
  const phase = (from: number, ms: number) => {
    for (let now = from; now < from + 70_000; now += 100) for (let nth = 0; nth < 10; nth++) limit.record(ms, now, 100);
  };
  phase(0, 2);
  phase(70_000, 300);
  const slowed = limit.value;
  limit.recordReached();
  for (let now = 140_000; now < 142_000; now += 100) {
    limit.recordReached();
    limit.record(300, now, 100);
  }
  expect(limit.value).toBeGreaterThan(slowed);
});

it('keeps the limit of concurrent Redis requests when quick requests show that Redis is suddenly far away', () => {
  const limit = new AdaptiveLimit();
  for (let now = 0; now < 1_000; now += 10) limit.record(1, now, 0);
  for (let now = 1_400; now < 3_000; now += 100) {
    limit.recordReached();
    for (let nth = 0; nth < 50; nth++) limit.record(400, now, now === 1_400 ? nth : 100);
  }
  expect(limit.value).toBeGreaterThan(first);
});

const MB = 1_048_576;

/** Create a response that is not read, on a connection of its own. */
const unread = () =>
  Object.assign(new EventEmitter(), {
    closed: false,
    req: { socket: new EventEmitter() },
  }) as unknown as ServerResponse;

it.each([
  [true, 'OVERLOADED'],
  [false, 'UNAVAILABLE'],
])('refuses a large response when too many bytes are unread (changes nothing: %p) as %s', (changesNothing, code) => {
  const responseBudget = new ResponseBudget();
  const send = (tenant: string, bytes = 42 * MB, response = unread()) =>
    responseBudget.acquire(response, { tenant, bytes, changesNothing });
  const first = unread();
  send('a', 42 * MB, first);
  send('b');
  send('c');
  expect(() => send('d')).toThrow(expect.objectContaining({ code }));
  send('d', 4_096);
  first.emit('close');
  send('d');
});

it('refuses further large responses to a tenant that leaves half of the bytes unread', () => {
  const responseBudget = new ResponseBudget();
  const send = (tenant: string) => responseBudget.acquire(unread(), { tenant, bytes: 42 * MB, changesNothing: true });
  send('a');
  send('b');
  expect(() => send('a')).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
});

/** Least time left with which a request is sent. */
const LEAST_MS = 10;

/** A queue whose requests end only when the test ends them. */
class PausedQueue {
  readonly queue = new RedisQueue(LEAST_MS);
  /** Names of the requests that were sent to Redis, in that order. */
  readonly sent: string[] = [];
  readonly #ends: (() => void)[] = [];

  send(name: string, { isUrgent = false, tenant = 'a', units = 1, withinMs = 60_000 } = {}): Promise<unknown> {
    const run = () => {
      this.sent.push(name);
      return new Promise((resolve) => this.#ends.push(() => resolve(name)));
    };
    return this.queue.withSlot({ isUrgent, tenant, units, withinMs, run });
  }

  /** Send requests that count as fifty each. Some are refused in the end. */
  sendLarge(count: number): void {
    for (let n = 0; n < count; n++) this.send('large', { units: 50 }).catch(() => undefined);
  }

  /** Send as many requests as may be under way; they do not end on their own. */
  fill(): void {
    // Of many tenants, because one gets at most half.
    for (let n = 0; this.queue.underWay < this.queue.limit; n++)
      this.send('first', { tenant: `full ${n}` }).catch(() => undefined);
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

it('sends three urgent Redis requests before each other request, and is fair to tenants within each kind', async () => {
  const paused = new PausedQueue();
  paused.fill();
  const all = [
    paused.send('create a1'),
    paused.send('create a2'),
    paused.send('create b1', { tenant: 'b' }),
    paused.send('ack a1', { isUrgent: true }),
    paused.send('ack a2', { isUrgent: true }),
    paused.send('ack a3', { isUrgent: true }),
    paused.send('ack b1', { tenant: 'b', isUrgent: true }),
  ];
  await paused.endAll();
  const sent = ['ack a1', 'ack b1', 'ack a2', 'create a1', 'ack a3', 'create b1', 'create a2'];
  expect(paused.sent).toEqual(sent);
  expect(await Promise.all(all)).toContain('create a2');
});

it('counts units instead of requests while several tenants use Redis, and gives a tenant half of them', async () => {
  const paused = new PausedQueue();
  paused.sendLarge(20);
  expect(paused.sent).toHaveLength(20);
  const shared = new PausedQueue();
  void shared.send('first', { tenant: 'b' });
  shared.sendLarge(20);
  expect(shared.sent).toHaveLength(3);
  void shared.send('small', { tenant: 'b' });
  expect(shared.sent.at(-1)).toBe('small');
  await Promise.all([paused.endAll(), shared.endAll()]);
});

it('estimates the Redis instructions of a request within a factor of three', async () => {
  const { instructions } = JSON.parse(await readFile('bench/instructions/bounds.json', 'utf8'));
  const { create } = instructions;
  const perJob = (call: string) => instructions[call] / create / Number(/\d+/.exec(call)?.[0]);
  const measured = {
    created: perJob('create 50 jobs'),
    settled: perJob('complete 50 jobs'),
    claimed: perJob('poll 10 jobs'),
    listed: perJob('list 50 jobs'),
    tag: (instructions['create, two tags'] / create - 1) / 2,
  };
  const charged: Record<string, number> = { ...PER_JOB, tag: PER_TAG };
  const ratios = Object.entries(measured).map(([what, units]) => (charged[what] as number) / units);
  expect(Math.min(...ratios)).toBeGreaterThan(1 / 3);
  expect(Math.max(...ratios)).toBeLessThan(3);
});

it('a client whose key is not yet known does not count as another tenant', async () => {
  const paused = new PausedQueue();
  void paused.send('stranger', { tenant: '@::1' });
  void paused.send('the service itself', { tenant: '' });
  paused.sendLarge(20);
  expect(paused.sent).toHaveLength(22);
  await paused.endAll();
});

it('releases the slot of a Redis request whose function throws', async () => {
  const { queue } = new PausedQueue();
  const run = (): never => {
    throw new Error('refused');
  };
  const refused = queue.withSlot({ isUrgent: false, tenant: 'a', withinMs: 60_000, run });
  await expect(refused).rejects.toThrow('refused');
  expect(queue.underWay).toBe(0);
});

it('refuses a Redis request that has waited too long, and does not send it later', async () => {
  const paused = new PausedQueue();
  paused.fill();
  const all = Array.from({ length: 10 }, (_, n) => paused.send('late', { tenant: String(n % 3), isUrgent: n > 4 }));
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
  expect(await queue.withSlot({ isUrgent: false, tenant: 'a', withinMs: 60_000, run })).toBe(0);
  expect(queue.underWay).toBe(0);
});
