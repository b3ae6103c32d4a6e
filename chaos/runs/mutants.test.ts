import { expect, it } from '@jest/globals';
import { scriptNames } from '../installation/scripts.js';
import { allFaults } from './fault.js';
import { allMutants, staleness } from './mutants.js';

const mutants = (await allMutants()).map((mutant) => [mutant.name, mutant] as const);
const faults = (await allFaults()).map(({ name }) => name);
const scripts = scriptNames();

it.each(mutants)('the mutant %s has a complete header, and its patch applies to the sources', async (_, mutant) => {
  const { title, breaks, under, loses } = mutant;
  expect(await staleness(mutant)).toBe('');
  expect(title).not.toBe('');
  expect(breaks.join(' ')).toMatch(/^P\d+( P\d+)*$/);
  expect([...faults, null]).toContain(under);
  expect(scripts).toEqual(expect.arrayContaining(loses));
});
