// npm run test:long -- dashboard: test the dashboard in Chromium, by mouse. npm run test:long -- keyboard: the same tests by
// keyboard only.
import base from '../../../jest.config.mjs';

/** @type {import('jest').Config} */
export default {
  ...base,
  rootDir: '../../..',
  testMatch: ['<rootDir>/test/clients/dashboard/*.client.ts'],
  globals: { device: process.env.DASHBOARD_DEVICE ?? 'mouse' },
};
