// npm run test:long -- topology-cluster, or -single, -tls, -sentinel: run the tests that only need an address against the
// services of docker-compose.yml behind nginx, on each kind of Redis. npm test excludes them because they need nginx.
import base from '../../jest.config.mjs';
import { EXCLUDED } from './excluded.mjs';

/** @type {import('jest').Config} */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/{api,gateway,logs,cli,scheduler,topology}/**/*.{test,thorough}.ts'],
  testPathIgnorePatterns: EXCLUDED.map((file) => `<rootDir>/test/${file}\\.(test|thorough)\\.ts$`),
  globalSetup: '<rootDir>/test/topology/global-setup.mjs',
  globalTeardown: '<rootDir>/test/topology/global-teardown.mjs',
};
