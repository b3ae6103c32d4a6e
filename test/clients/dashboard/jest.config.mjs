// npm run test:dashboard: test the dashboard in Chromium, by mouse. npm run test:keyboard: the same tests by keyboard only; with
// TEST_SHORT=true those of actions.
import base from '../../../jest.config.mjs';

const device = process.env.DASHBOARD_DEVICE ?? 'mouse';
const isShort = process.env.TEST_SHORT === 'true' && device === 'keyboard';

/** @type {import('jest').Config} */
export default {
  ...base,
  rootDir: '../../..',
  testMatch: [`<rootDir>/test/clients/dashboard/${isShort ? '{acts-on-*,keys,share}' : '*'}.client.ts`],
  globals: { device },
};
