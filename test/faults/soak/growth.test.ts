import { expect, it } from '@jest/globals';
import { randomOf } from '../../logs/random.js';
import { type GrowthTools, movedOf } from './growth.js';

const BENCH = '../../../bench/soak/growth.mjs'; // It has no types.
const tools = (await import(BENCH)) as GrowthTools;

/** An hour of laps. @param valueAt by the nth lap and the hours since the beginning */
const laps = (valueAt: (nth: number, hours: number) => number, count = 20) =>
  Array.from({ length: count }, (_, n) => ({ at: n * 180_000, value: valueAt(n, n / 20) }));

const random = randomOf(1);
/** As much as heaps differ once they are collected. */
const noise = () => (random.below(100) - 50) / 1_000;

it.each([
  ['a heap that stays', 'api-1: heap, MB', () => 18 + noise(), false],
  ['a heap that is warm after two laps', 'api-1: heap, MB', (n: number) => (n < 2 ? 12 : 18) + noise(), false],
  [
    'a heap that leaks 3 % an hour',
    'api-1: heap, MB',
    (_: number, hours: number) => 18 * (1 + 0.03 * hours) + noise(),
    true,
  ],
  ['files that faults leave open for a while', 'api-1: open files', (n: number) => (n % 3 === 0 ? 45 : 29), false],
  ['a file more every fifth lap', 'api-1: open files', (n: number) => 29 + Math.floor(n / 5) + (n % 3), true],
] as const)('judges %s', (_, what, valueAt, isGrowing) => {
  expect(movedOf(what, laps(valueAt), tools)).toMatchObject({ isGrowing });
});

it('says nothing of a run that is too short', () => {
  expect(
    movedOf(
      'api-1: heap, MB',
      laps((n) => n, 9),
      tools,
    ).says,
  ).toBe('too short a run to tell');
});
