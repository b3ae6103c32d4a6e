// npm run test:resilience: the service and its Redis are killed, cut off, filled up and crowded, on each kind of Redis. These
// tests wait for outages to pass and for much work to be done, so npm test leaves them out.
import base from '../../jest.config.mjs';

/** @type {import('jest').Config} */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/resilience/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
