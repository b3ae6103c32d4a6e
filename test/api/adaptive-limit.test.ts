import { expect, it } from '@jest/globals';
import { AdaptiveLimit } from '../../apps/api/src/limits/adaptive-limit.js';

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

it('forgets how quick Redis was after a minute in which Redis was slower', () => {
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
