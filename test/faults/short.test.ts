import { expect, it } from '@jest/globals';
import { allFaults, nameOf } from './fault.js';
import { MUTANTS } from './mutants/table.js';
import { SHORT_FAULTS, SHORT_MUTANTS } from './short.js';

// One that is called otherwise by now would be left out, and nobody would know.
it('names faults and mutants that there are', async () => {
  expect((await allFaults()).map(nameOf)).toEqual(expect.arrayContaining([...SHORT_FAULTS]));
  expect(MUTANTS.map(({ title }) => title)).toEqual(expect.arrayContaining([...SHORT_MUTANTS]));
});
