import { EventEmitter } from 'node:events';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { RedisClock } from '@yardmaster/redis';
import type { Redis } from 'ioredis';

// The time stands still, so that no pause of the machine is between two readings.
beforeAll(() => {
  jest.spyOn(performance, 'now').mockReturnValue(1_000_000);
});
afterAll(() => {
  jest.restoreAllMocks();
});

const node = () => new EventEmitter() as Redis;
/** How far Redis' clock is ahead of `performance.now()`, milliseconds. */
const AHEAD = 1_800_000_000_000;

/** By how much a deadline differs from the true one, milliseconds. */
const offBy = (clock: RedisClock) => (clock.after(1_000) as number) - (AHEAD + performance.now() + 1_000);

/** Have a clock learn from a TIME that took `tookMs`; Redis read its clock `readAfterMs` after it was sent. */
function learn(clock: RedisClock, from: Redis, { tookMs = 2, readAfterMs = 2, stepMs = 0, inMs = 0 } = {}): void {
  const now = performance.now() + inMs;
  const epochMs = AHEAD + stepMs + now - tookMs + readAfterMs;
  clock.learn(from, { epochMs, sentAt: now - tookMs, receivedAt: now });
}

it('the estimate of the Redis clock is null before the first TIME and after the connection is closed', () => {
  const [clock, redis] = [new RedisClock(), node()];
  expect(clock.after(0)).toBeNull();
  learn(clock, redis);
  expect(Math.abs(offBy(clock))).toBeLessThanOrEqual(2);
  redis.emit('close');
  expect(clock.after(0)).toBeNull();
  learn(clock, redis);
  expect(clock.after(0)).not.toBeNull();
});

it('the estimate of the Redis clock is never ahead of the true time, however long a TIME took', () => {
  const [clock, redis] = [new RedisClock(), node()];
  for (const readAfterMs of [0, 500, 990]) {
    learn(clock, redis, { tookMs: 1_000, readAfterMs });
    expect(offBy(clock)).toBeLessThanOrEqual(0);
    expect(Math.abs(offBy(clock) - (readAfterMs - 1_000))).toBeLessThanOrEqual(2);
  }
});

it('the estimate of the Redis clock uses the best TIME of half a minute', () => {
  const [clock, redis] = [new RedisClock(), node()];
  learn(clock, redis);
  learn(clock, redis, { tookMs: 1_000, readAfterMs: 10, inMs: 29_000 });
  expect(Math.abs(offBy(clock))).toBeLessThanOrEqual(2);
  learn(clock, redis, { tookMs: 1_000, readAfterMs: 500, inMs: 31_000 });
  expect(Math.abs(offBy(clock) + 500)).toBeLessThanOrEqual(2);
});

it.each([-60_000, 60_000])('the estimate of the Redis clock is correct again after a step of %i ms', (stepMs) => {
  const [clock, redis] = [new RedisClock(), node()];
  learn(clock, redis, { tookMs: 1, readAfterMs: 1 });
  learn(clock, redis, { tookMs: 20, readAfterMs: 10, stepMs });
  expect(Math.abs(offBy(clock) - stepMs)).toBeLessThanOrEqual(20);
});

it('the estimate of the Redis clock follows the node whose clock is furthest ahead', () => {
  const [clock, ahead] = [new RedisClock(), node()];
  learn(clock, node());
  learn(clock, ahead, { stepMs: 500 });
  expect(Math.round(offBy(clock) / 100)).toBe(5);
  ahead.emit('close');
  expect(Math.abs(offBy(clock))).toBeLessThan(50);
});

it('the estimate of the Redis clock is null after a command proves it wrong', () => {
  const [clock, redis] = [new RedisClock(), node()];
  learn(clock, redis, { tookMs: 300 });
  clock.reportTooLate(300);
  expect(clock.after(0)).not.toBeNull();
  clock.reportTooLate(400);
  expect(clock.after(0)).toBeNull();
});
