import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { RedisClock } from '@yardmaster/redis';
import type { Redis } from 'ioredis';

const node = () => new EventEmitter() as Redis;
/** Redis' clock is so far ahead of `performance.now()`. */
const AHEAD = 1_800_000_000_000;

/** By how much a deadline differs from the true one, milliseconds. */
const offBy = (clock: RedisClock) => (clock.after(1_000) as number) - (AHEAD + performance.now() + 1_000);

/** A TIME that took so long, and was told after so much of it. */
function learn(clock: RedisClock, from: Redis, { tookMs = 2, toldAfter = 2, stepMs = 0, inMs = 0 } = {}): void {
  const now = performance.now() + inMs;
  clock.learn(from, AHEAD + stepMs + now - tookMs + toldAfter, now - tookMs, now);
}

describe("Redis' clock", () => {
  it('is not known before the first TIME, nor once its connection is closed', () => {
    const [clock, redis] = [new RedisClock(), node()];
    expect(clock.after(0)).toBeNull();
    learn(clock, redis);
    expect(Math.abs(offBy(clock))).toBeLessThanOrEqual(2);
    redis.emit('close');
    expect(clock.after(0)).toBeNull();
    learn(clock, redis);
    expect(clock.after(0)).not.toBeNull();
  });

  it('is never taken to be ahead of what it is, however long a TIME took', () => {
    const [clock, redis] = [new RedisClock(), node()];
    for (const toldAfter of [0, 500, 990]) {
      learn(clock, redis, { tookMs: 1_000, toldAfter });
      expect(offBy(clock)).toBeLessThanOrEqual(0);
      expect(Math.abs(offBy(clock) - (toldAfter - 1_000))).toBeLessThanOrEqual(2);
    }
  });

  it('is known by the best TIME of half a minute', () => {
    const [clock, redis] = [new RedisClock(), node()];
    learn(clock, redis);
    learn(clock, redis, { tookMs: 1_000, toldAfter: 10, inMs: 29_000 });
    expect(Math.abs(offBy(clock))).toBeLessThanOrEqual(2);
    learn(clock, redis, { tookMs: 1_000, toldAfter: 500, inMs: 31_000 });
    expect(Math.abs(offBy(clock) + 500)).toBeLessThanOrEqual(2);
  });

  it.each([-60_000, 60_000])('is known again after a step of %i ms', (stepMs) => {
    const [clock, redis] = [new RedisClock(), node()];
    learn(clock, redis, { tookMs: 1, toldAfter: 1 });
    learn(clock, redis, { tookMs: 20, toldAfter: 10, stepMs });
    expect(Math.abs(offBy(clock) - stepMs)).toBeLessThanOrEqual(20);
  });

  it('is that of the node furthest ahead', () => {
    const [clock, ahead] = [new RedisClock(), node()];
    learn(clock, node());
    learn(clock, ahead, { stepMs: 500 });
    expect(Math.round(offBy(clock) / 100)).toBe(5);
    ahead.emit('close');
    expect(Math.abs(offBy(clock))).toBeLessThan(50);
  });

  it('is not known after it has proven wrong, by more than it may be', () => {
    const [clock, redis] = [new RedisClock(), node()];
    learn(clock, redis, { tookMs: 300 });
    clock.doubt(300);
    expect(clock.after(0)).not.toBeNull();
    clock.doubt(400);
    expect(clock.after(0)).toBeNull();
  });
});
