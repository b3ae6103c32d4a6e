// npm run test:release: check the workflows, and build and rehearse a release. Its tools are built from Go modules first,
// and Python builds its SDK, so the tests have the names *.release.ts, which npm test does not match. TEST_SHORT=true
// leaves out the tests of publishing, whose tools take minutes to build.
import base from '../../jest.config.mjs';

/** @type {import('jest').Config} */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/release/*.release.ts'],
  ...(process.env.TEST_SHORT === 'true' && { testPathIgnorePatterns: ['publish\\.release\\.ts$'] }),
  maxWorkers: 1, // Two builds at once would install the tools of Python twice.
};
