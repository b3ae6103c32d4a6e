// npm run test:faults: whole installations under load while something of theirs fails. They take long, so they are called
// *.fault.ts and npm test does not see them.
import base from '../../jest.config.mjs';

const { globalSetup, globalTeardown, ...rest } = base; // Each run has a Redis of its own.

const own = {
  rootDir: '../..',
  testMatch: ['<rootDir>/test/faults/*.fault.ts'],
  globalSetup: '<rootDir>/test/faults/global-setup.mjs',
  maxWorkers: 1, // What another installation takes of the machine would be told as lateness.
};

/** @type {import('jest').Config} */
export default { ...rest, ...own };
