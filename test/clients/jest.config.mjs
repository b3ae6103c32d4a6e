// npm run test:long -- clients: test third-party clients, the examples and the benches. They need nginx, as docs/nginx.conf
// configures it, Chromium, curl and jq, so they have the names *.client.ts, which npm test does not match. The tests of the
// pages of the dashboard have a configuration of their own.
import base from '../../jest.config.mjs';

/** @type {import('jest').Config} */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/{clients,examples}/**/*.client.ts'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/clients/dashboard/'],
};
