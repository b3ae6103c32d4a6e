import { expect, it } from '@jest/globals';
import { isJobId } from '@yardmaster/protocol';
import { createStore, newJobId, partitionOf } from '@yardmaster/store';
import type { Redis } from 'ioredis';
import { randomBase32 } from '../../packages/store/src/keys.js';
import { isoOf } from '../../packages/store/src/time.js';

it('every global key has a hash tag, unless no script has it as its first key', () => {
  const { keys } = createStore({} as Redis, { keyPrefix: 'p' });
  const names = Object.entries(keys).flatMap(([name, key]) => (typeof key === 'string' ? [[name, key] as const] : []));
  // On a cluster, a script uses two more keys in the slot of its first one.
  expect(names.filter(([, key]) => !/\{\w+\}/.test(key)).map(([name]) => name)).toEqual(['meta', 'manualClock']);
});

// The characters come from a pool of 8,192, which only the lengths 1 and 16 divide.
const LENGTHS = [1, 5, 16, 26, 31, 100, 1_000];

it('generates 10,000 different job ids with the partition of their space', () => {
  const ids = Array.from({ length: 10_000 }, () => newJobId('some-space'));
  expect(ids.filter((id) => !isJobId(id) || !id.startsWith(partitionOf('some-space')))).toEqual([]);
  expect(new Set(ids).size).toBe(10_000);
});

it.each(LENGTHS)('generates random texts of %i characters, even across refills of the pool', (characters) => {
  const texts = Array.from({ length: Math.ceil(50_000 / characters) }, () => randomBase32(characters));
  expect(texts.filter((text) => text.length !== characters || !/^[a-z2-7]+$/.test(text))).toEqual([]);
});

it('uses no random character twice, for any sequence of lengths', () => {
  const texts = Array.from({ length: 5_000 }, (_, n) => randomBase32(LENGTHS[n % 5] as number));
  const all = texts.join('');
  // Thirteen characters are 65 random bits, so no two of 79,000 such texts are equal by chance.
  const pieces = Array.from({ length: all.length - 12 }, (_, at) => all.slice(at, at + 13));
  expect(new Set(pieces).size).toBe(pieces.length);
  // The last and the next first character are equal one time in 32, about 156 times; always, if one was used twice.
  const alike = texts.filter((text, n) => text.at(-1) === texts[n + 1]?.[0]);
  expect(alike.length).toBeLessThan(300);
});

it('uses the 32 characters of random texts equally often', () => {
  const counts = new Map<string, number>();
  for (let n = 0; n < 10_000; n++) {
    for (const character of randomBase32(32)) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  // About 10,000 of each, plus or minus 100. A difference of 1,000 cannot be chance.
  expect([...counts.values()].filter((count) => Math.abs(count - 10_000) > 1_000)).toEqual([]);
  expect(counts.size).toBe(32);
});

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
