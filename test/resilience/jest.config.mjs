// npm run test:long -- resilience: test crashes, outages, failovers, a full memory and many clients, on each kind of Redis.
// npm test excludes these tests because they wait for outages and much work.
import base from '../../jest.config.mjs';

/** @type {import('jest').Config} */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/resilience/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
