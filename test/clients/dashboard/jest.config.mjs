// npm run test:dashboard: test the dashboard in Chromium, by mouse. npm run test:keyboard: the same tests by keyboard only. With
// TEST_SHORT=true they leave out restarts and the path of a proxy.
import base from '../../../jest.config.mjs';

/** @type {import('jest').Config} */
export default {
  ...base,
  rootDir: '../../..',
  testMatch: ['<rootDir>/test/clients/dashboard/*.client.ts'],
  ...(process.env.TEST_SHORT === 'true' && { testPathIgnorePatterns: ['(restart|subpath)\\.client\\.ts$'] }),
  globals: { device: process.env.DASHBOARD_DEVICE ?? 'mouse' },
};
