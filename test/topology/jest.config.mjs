// npm run test:topology [-- --redis single|tls|sentinel|cluster]: run the tests that only need an address against the
// services of docker-compose.yml behind nginx, on each kind of Redis. npm test excludes them because they need nginx. With
// TEST_SHORT=true it leaves out tests for which the kind of Redis makes no difference.
import base from '../../jest.config.mjs';
import { EXCLUDED, SAME_ON_ANY_REDIS } from './excluded.mjs';

const excluded = process.env.TEST_SHORT === 'true' ? [...EXCLUDED, ...SAME_ON_ANY_REDIS] : EXCLUDED;

/** @type {import('jest').Config} */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/{api,gateway,logs,cli,scheduler,examples,topology}/**/*.test.ts'],
  testPathIgnorePatterns: excluded.map((file) => `<rootDir>/test/${file}\\.test\\.ts$`),
  globalSetup: '<rootDir>/test/topology/global-setup.mjs',
  globalTeardown: '<rootDir>/test/topology/global-teardown.mjs',
};
