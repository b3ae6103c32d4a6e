// npm run test:long -- pages: type what the pages say to type, and run their programs, as a reader would. They need bash, curl
// and jq, and util-linux for a network and terminals of their own.
import base from '../../jest.config.mjs';

/** @type {import('jest').Config} */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/pages/*.page.ts'],
  globalSetup: '<rootDir>/test/pages/set-up.mjs',
  globalTeardown: undefined,
  testTimeout: 300_000,
  maxConcurrency: 2,
};
