// npm run test:long -- image: build the image, run it and docker-compose.yml in a container engine, and check the files of both.
import base from '../../jest.config.mjs';

/** @type {import('jest').Config} */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/image/*.image.ts'],
  globalSetup: '<rootDir>/test/containers/set-up.mjs',
  globalTeardown: '<rootDir>/test/containers/tear-down.mjs',
  maxWorkers: 1,
};
