import { expect, it } from '@jest/globals';
import { Random } from '../../test/support/random.js';
import { growth } from './growth.js';

/** Create the values of an hour. @param valueAt value by the number of the lap and the hours since the start */
const laps = (valueAt: (nth: number, hours: number) => number, count = 60) =>
  Array.from({ length: count }, (_, n) => valueAt(n, n / 60));

const random = new Random(1);
/** Return noise, as heaps vary after garbage collection. */
const noise = () => (random.below(100) - 50) / 1_000;

const HEAP = 'api-1: heap, MB';
const OUTSIDE = 'api-1: outside the heap, MB';
const FILES = 'api-1: open files';
const KEYS = 'Redis: keys of BullMQ';

it.each([
  ['a heap that stays', HEAP, () => 18 + noise(), false],
  ['a heap that grows while code is compiled', HEAP, (n: number) => 12 + Math.min(n, 20) / 3 + noise(), false],
  ['a heap that leaks 12% an hour', HEAP, (_: number, hours: number) => 18 * (1 + 0.12 * hours) + noise(), true],
  ['memory that one large body needed', OUTSIDE, (n: number) => (n < 45 ? 55 : 75), false],
  ['memory that leaks outside the heap', OUTSIDE, (n: number) => 55 + 3 * n, true],
  ['files that faults leave open for a while', FILES, (n: number) => (n % 3 === 0 ? 45 : 29), false],
  ['a pool that varies', FILES, (n: number) => 29 + (n > 40 ? 2 : 0), false],
  ['keys that exist while a tick is processed', KEYS, (n: number) => (n < 40 && n % 2 === 0 ? 10 : 12), false],
  ['one key more every fifth lap', KEYS, (n: number) => 10 + Math.floor(n / 5) + (n % 3), true],
  ['one file more every third lap', FILES, (n: number) => 29 + Math.floor(n / 3) + (n % 3), true],
] as const)('judges the growth of %s', (_, what, valueAt, grows) => {
  expect(growth(what, laps(valueAt))).toMatchObject({ grows });
});

it('does not judge growth in a short run', () => {
  const short = laps((n) => n, 5);
  expect(growth(HEAP, short)).toEqual({ grows: false, says: 'too short a run to judge' });
});
