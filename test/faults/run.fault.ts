import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { runFault } from './course.js';
import { allFaults, type Fault, nameOf } from './fault.js';
import { optionsOf } from './options.js';
import { table, told } from './report.js';
import { addFaults, addRun, addUnfinished } from './results.js';
import { SHORT_FAULTS } from './short.js';
import type { Summary } from './summary.js';

const { seed, rate, isShort, only, repeat } = optionsOf(process.env);

const isNamed = (fault: Fault) => only.length === 0 || only.includes(fault.id) || only.includes(nameOf(fault));
const isWanted = (fault: Fault) => isNamed(fault) && (!isShort || SHORT_FAULTS.includes(nameOf(fault)));
const all = await allFaults();
const seeds = Array.from({ length: repeat }, (_, i) => seed + i);

const runs: Summary[] = [];
beforeAll(() => addFaults(all.map(nameOf)));
afterAll(() => void process.stdout.write(`\n${table(runs)}\n`));

describe.each(seeds)('with seed %d', (ofRun) => {
  for (const fault of all)
    (isWanted(fault) ? it : it.skip)(
      `${nameOf(fault)} breaks no promise: ${fault.title}`,
      async () => {
        const run = await runFault(fault, { seed: ofRun, rate }).catch((error: Error) => {
          addUnfinished({ name: nameOf(fault), seed: ofRun, says: error.message });
          throw error;
        });
        runs.push(run);
        addRun(run);
        if (run.violations.length > 0) throw new Error(told(run));
      },
      240_000,
    );
});
