import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EqualTimeouts } from '@yardmaster/runtime';

describe('EqualTimeouts', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('end each after its time, in the order in which they began', () => {
    const timeouts = new EqualTimeouts(100);
    const ended: string[] = [];
    timeouts.begin(() => ended.push('first'));
    jest.advanceTimersByTime(40);
    timeouts.begin(() => ended.push('second'));
    timeouts.begin(() => ended.push('third'));
    jest.advanceTimersByTime(59);
    expect(ended).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(ended).toEqual(['first']);
    jest.advanceTimersByTime(39);
    expect(ended).toEqual(['first']);
    jest.advanceTimersByTime(1);
    expect(ended).toEqual(['first', 'second', 'third']);
    jest.advanceTimersByTime(1_000);
    expect(ended).toHaveLength(3);
  });

  it('do not end once they are cleared, wherever they stand', () => {
    for (const cleared of [[0], [1], [2], [0, 1], [1, 2], [0, 2], [0, 1, 2], [1, 1], []]) {
      const timeouts = new EqualTimeouts(100);
      const ended: number[] = [];
      const all = [0, 1, 2].map((n) => timeouts.begin(() => ended.push(n)));
      for (const n of cleared) all[n]?.clear();
      timeouts.begin(() => ended.push(3));
      jest.advanceTimersByTime(100);
      expect(ended).toEqual([0, 1, 2, 3].filter((n) => !cleared.includes(n)));
    }
  });

  it('may begin and clear others when they end', () => {
    const timeouts = new EqualTimeouts(100);
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

  it('have one timer for all, and none once there is nothing to wait for', () => {
    const timeouts = new EqualTimeouts(100);
    for (let n = 0; n < 50; n++) timeouts.begin(() => undefined).clear();
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(100);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('end as those of Node do, whatever order they are cleared in', () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    const timeouts = new EqualTimeouts(50);
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
      } else open.splice(random(open.length), 1)[0]?.();
      jest.advanceTimersByTime(random(4));
    }
    jest.advanceTimersByTime(100);
    expect(ours.length).toBeGreaterThan(100);
    expect(ours).toEqual(theirs);
  });
});
