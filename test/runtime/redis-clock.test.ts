import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { RedisClock } from '@yardmaster/runtime';
import type { Redis } from 'ioredis';

const node = () => new EventEmitter() as Redis;
/** Redis' clock is so far ahead of `performance.now()`. */
const AHEAD = 1_800_000_000_000;

/** By how much a deadline differs from the true one. */
const offBy = (clock: RedisClock) => (clock.after(1_000) as number) - (AHEAD + performance.now() + 1_000);

/** A TIME that took so long, and was answered after so much of it. */
function learn(clock: RedisClock, from: Redis, { tookMs = 2, answeredAfter = 1, stepMs = 0 } = {}): void {
  const now = performance.now();
  clock.learn(from, AHEAD + stepMs + now - tookMs + answeredAfter, now - tookMs, now);
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

  it('is known by the quickest TIME', () => {
    const [clock, redis] = [new RedisClock(), node()];
    learn(clock, redis);
    learn(clock, redis, { tookMs: 1_000, answeredAfter: 990 });
    expect(Math.abs(offBy(clock))).toBeLessThanOrEqual(2);
  });

  it.each([-60_000, 60_000])('is known again after a step of %i ms', (stepMs) => {
    const [clock, redis] = [new RedisClock(), node()];
    learn(clock, redis, { tookMs: 1 });
    learn(clock, redis, { tookMs: 20, stepMs });
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

  it('is not known after it has proven wrong', () => {
    const clock = new RedisClock();
    learn(clock, node());
    clock.forget();
    expect(clock.after(0)).toBeNull();
  });
});
