import { beforeAll, describe, expect, it } from '@jest/globals';
import { runFault } from './course.js';
import { faultOf } from './mutants/fault-of.js';
import { makeMutant } from './mutants/mutant.js';
import { MUTANTS } from './mutants/table.js';
import { optionsOf } from './options.js';
import { addMutant, addTitles } from './results.js';
import { SHORT_MUTANTS } from './short.js';

const { seed, rate, isShort, only } = optionsOf(process.env);

const areNamed = only.length === 0 || only.includes('mutants');
const isWanted = (title: string) => areNamed && (!isShort || SHORT_MUTANTS.includes(title));

beforeAll(() => addTitles(MUTANTS.map(({ title }) => title)));

describe('it is seen when', () => {
  for (const mutant of MUTANTS)
    (isWanted(mutant.title) ? it : it.skip)(
      mutant.title,
      async () => {
        const made = await makeMutant(mutant.edits);
        try {
          const { violations } = await runFault(await faultOf(mutant, made), { seed, rate });
          const seen = [...new Set(violations.map(({ promise }) => promise))];
          addMutant({ title: mutant.title, breaks: mutant.breaks, seen });
          expect(seen).toEqual(expect.arrayContaining([...mutant.breaks]));
        } finally {
          await made.remove();
        }
      },
      240_000,
    );
});
