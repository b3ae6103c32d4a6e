// npm run test:long -- release: check the workflows, build the packages of a release, and install them. This needs Go and Python,
// so the tests have the names *.release.ts, which npm test does not match.
import base from '../../jest.config.mjs';
import { goCommand } from '../../scripts/go-command.mjs';

// Build the commands now, so that no test waits for Go.
for (const name of ['actionlint', 'helm']) goCommand(name);

/** @type {import('jest').Config} */
export default { ...base, rootDir: '../..', testMatch: ['<rootDir>/test/release/*.release.ts'] };
