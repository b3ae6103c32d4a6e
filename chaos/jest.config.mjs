// Tests of the fault suite itself, which npm run test:long -- faults runs first.
import base from '../jest.config.mjs';

const { globalSetup, globalTeardown, ...rest } = base; // Tests that need a Redis start it themselves.

/** @type {import('jest').Config} */
export default { ...rest, rootDir: '..', testMatch: ['<rootDir>/chaos/**/*.test.ts'] };
