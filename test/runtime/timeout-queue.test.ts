import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { TimeoutQueue } from '@yardmaster/redis';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

it('fires timeouts like Node, in whatever order and however often they are cleared', () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const timeouts = new TimeoutQueue(50);
  const [ours, theirs]: [string[], string[]] = [[], []];
  const open: (() => void)[] = [];
  for (let n = 0; n < 2_000; n++) {
    if (random(3) > 0) {
      const timeout = timeouts.begin(() => ours.push(`${n} at ${Date.now()}`));
      const timer = setTimeout(() => theirs.push(`${n} at ${Date.now()}`), 50);
      open.push(() => {
        timeout.clear();
        clearTimeout(timer);
      });
    } else if (random(4) > 0) open.splice(random(open.length), 1)[0]?.();
    else open[random(open.length)]?.(); // It may be cleared again.
    jest.advanceTimersByTime(random(4));
  }
  jest.advanceTimersByTime(100);
  expect(ours.length).toBeGreaterThan(100);
  expect(ours).toEqual(theirs);
});

it('lets a firing timeout start and clear others', () => {
  const timeouts = new TimeoutQueue(100);
  const ended: string[] = [];
  timeouts.begin(() => {
    ended.push('first');
    second.clear();
    timeouts.begin(() => ended.push('another'));
  });
  const second = timeouts.begin(() => ended.push('second'));
  jest.advanceTimersByTime(100);
  expect(ended).toEqual(['first']);
  jest.advanceTimersByTime(100);
  expect(ended).toEqual(['first', 'another']);
});

it('uses one timer for all timeouts, and none without timeouts', () => {
  const timeouts = new TimeoutQueue(100);
  for (let n = 0; n < 50; n++) timeouts.begin(() => undefined).clear();
  expect(jest.getTimerCount()).toBe(1);
  jest.advanceTimersByTime(100);
  expect(jest.getTimerCount()).toBe(0);
});
