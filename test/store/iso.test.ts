import { expect, it } from '@jest/globals';
import { isoOf } from '../../packages/store/src/time.js';

it('formats times as Date does, regardless of the previously formatted time', () => {
  const times = [
    0, 1, 999, 1_000, -1, -1_000, 1_763_745_678_901, 1_763_745_678_902, 1_763_745_679_000, 5, 253_402_300_799_999,
  ];
  for (const first of times) {
    for (const then of times) {
      expect([isoOf(first), isoOf(String(then))]).toEqual([
        new Date(first).toISOString(),
        new Date(then).toISOString(),
      ]);
    }
  }
  expect(isoOf(1.5)).toBe('1970-01-01T00:00:00.001Z');
  expect(() => isoOf('never')).toThrow(RangeError);
});
