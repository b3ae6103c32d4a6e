// npm run test:long -- orders: 10,000 seeded orders, all tours of the machine of states/, and faults that they must find, which
// have the name *.orders.ts, so that npm test leaves them out.
import base from '../../jest.config.mjs';

/** @type {import('jest').Config} */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/model/**/*.{test,orders,thorough}.ts'],
};
