import { describe, expect, it } from '@jest/globals';
import { backoffMs, retryAfterMs } from '@yardmaster/cli';

it('waits any time up to a limit that doubles from 0.5 s to 15 s', () => {
  const limits = [1, 2, 3, 4, 5, 6, 7, 2_000].map((failures) => backoffMs(failures, () => 1));
  expect(limits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
  expect(backoffMs(3, () => 0)).toBe(0);
  expect(backoffMs(3, () => 0.25)).toBe(500);
});

describe('Retry-After', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  it.each([
    [undefined, 0],
    ['3', 3_000],
    ['0', 0],
    ['99999999999', 3_600_000],
    ['Thu, 01 Jan 2026 00:00:09 GMT', 9_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['soon', 0],
  ])('%s is %i ms', (header, ms) => {
    expect(retryAfterMs(header, now)).toBe(ms);
  });
});
