import { expect, it } from '@jest/globals';
import { Random } from '../../test/support/random.js';
import { growth } from './growth.js';

/** Make the points of an hour of laps. @param valueAt value by the number of the lap and the hours since the beginning */
const laps = (valueAt: (nth: number, hours: number) => number, count = 20) =>
  Array.from({ length: count }, (_, n) => ({ at: n * 180_000, value: valueAt(n, n / 20) }));

const random = new Random(1);
/** Vary a value as heaps vary after garbage collection. */
const noise = () => (random.below(100) - 50) / 1_000;

const HEAP = 'api-1: heap, MB';
const FILES = 'api-1: open files';

it.each([
  ['a heap that stays', HEAP, () => 18 + noise(), false],
  ['a heap that is warm after two laps', HEAP, (n: number) => (n < 2 ? 12 : 18) + noise(), false],
  ['a heap that leaks 3 % an hour', HEAP, (_: number, hours: number) => 18 * (1 + 0.03 * hours) + noise(), true],
  ['files that faults leave open for a while', FILES, (n: number) => (n % 3 === 0 ? 45 : 29), false],
  ['one file more every fifth lap', FILES, (n: number) => 29 + Math.floor(n / 5) + (n % 3), true],
] as const)('judges the growth of %s', (_, what, valueAt, grows) => {
  expect(growth(what, laps(valueAt))).toMatchObject({ grows });
});

it('does not judge growth in a short run', () => {
  const short = laps((n) => n, 9);
  expect(growth(HEAP, short)).toEqual({ grows: false, says: 'too short a run to judge' });
});
