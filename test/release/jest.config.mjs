// npm run test:long -- release: check the workflows, and build and rehearse a release. This needs Go and Python, so the tests have
// the names *.release.ts, which npm test does not match. TEST_SHORT=true leaves out the tests of publishing, whose
// commands take minutes to build.
import base from '../../jest.config.mjs';
import { goCommand } from '../../scripts/go-command.mjs';

const isShort = process.env.TEST_SHORT === 'true';
// Build the commands now, so that no test waits for Go.
for (const name of ['actionlint', 'helm', ...(isShort ? [] : ['cosign', 'crane'])]) goCommand(name);

/** @type {import('jest').Config} */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/release/*.release.ts'],
  ...(isShort && { testPathIgnorePatterns: ['publish\\.release\\.ts$'] }),
  maxWorkers: 1, // Two builds at once would install the tools of Python twice.
};
