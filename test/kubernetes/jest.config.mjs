// npm run test:long -- kubernetes: install, upgrade, break and uninstall the chart in a real Kubernetes, under load.
import base from '../../jest.config.mjs';

/** @type {import('jest').Config} */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/kubernetes/*.kubernetes.ts'],
  globalSetup: '<rootDir>/test/kubernetes/set-up.mjs',
  globalTeardown: '<rootDir>/test/kubernetes/tear-down.mjs',
  testTimeout: 400_000,
  maxWorkers: 1,
};
