import { expect, it } from '@jest/globals';
import { createStore } from '@yardmaster/store';
import type { Redis } from 'ioredis';

it('every key that exists once has a hash tag, unless no script has it as its first key', () => {
  const { keys } = createStore({} as Redis, { keyPrefix: 'p' });
  const names = Object.entries(keys).flatMap(([name, key]) => (typeof key === 'string' ? [[name, key] as const] : []));
  // On a cluster, a script asks for two more keys beside its first one, in the same slot.
  expect(names.filter(([, key]) => !/\{\w+\}/.test(key)).map(([name]) => name)).toEqual(['meta', 'manualClock']);
});
