// npm run test:long -- thorough: the tests named *.thorough.ts, which npm test leaves out because they try many combinations,
// store much, or start many processes.
import base from '../jest.config.mjs';

/** @type {import('jest').Config} */
export default { ...base, rootDir: '..', testMatch: ['<rootDir>/test/**/*.thorough.ts'] };
