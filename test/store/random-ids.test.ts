import { expect, it } from '@jest/globals';
import { isJobId, newJobId, partitionOf } from '@yardmaster/store';
import { randomBase32 } from '../../packages/store/src/partition.js';

// The characters are made in a pool of 8 192, which none of these lengths but 1 and 16 divides.
const LENGTHS = [1, 5, 16, 26, 31, 100, 1_000];

it('makes 10 000 job ids that all differ, each of its space', () => {
  const ids = Array.from({ length: 10_000 }, () => newJobId('some-space'));
  expect(ids.filter((id) => !isJobId(id) || !id.startsWith(partitionOf('some-space')))).toEqual([]);
  expect(new Set(ids).size).toBe(10_000);
});

it.each(LENGTHS)('makes texts of %i characters of the alphabet, whole at each refill', (characters) => {
  const texts = Array.from({ length: Math.ceil(50_000 / characters) }, () => randomBase32(characters));
  expect(texts.filter((text) => text.length !== characters || !/^[a-z2-7]+$/.test(text))).toEqual([]);
});

it('gives no characters twice, whatever lengths are asked for one after the other', () => {
  const texts = Array.from({ length: 5_000 }, (_, n) => randomBase32(LENGTHS[n % 5] as number));
  const all = texts.join('');
  // Thirteen characters are 65 random bits: by chance none of 79 000 such pieces is there twice.
  const pieces = Array.from({ length: all.length - 12 }, (_, at) => all.slice(at, at + 13));
  expect(new Set(pieces).size).toBe(pieces.length);
  // A text ends as the next one begins one time in 32, some 156 of these; were a character given twice, each time.
  const alike = texts.filter((text, n) => text.at(-1) === texts[n + 1]?.[0]);
  expect(alike.length).toBeLessThan(300);
});

it('takes the 32 characters equally often', () => {
  const counts = new Map<string, number>();
  for (let n = 0; n < 10_000; n++) {
    for (const character of randomBase32(32)) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  // 10 000 of each, give or take 100: ten times that is no accident.
  expect([...counts.values()].filter((count) => Math.abs(count - 10_000) > 1_000)).toEqual([]);
  expect(counts.size).toBe(32);
});
