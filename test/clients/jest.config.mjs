// npm run test:clients: test third-party clients; those of streams use nginx as docs/nginx.conf configures it. They need
// nginx, Chromium, curl and jq, so they have the names *.client.ts, which npm test does not match.
import base from '../../jest.config.mjs';

/** @type {import('jest').Config} */
export default { ...base, rootDir: '../..', testMatch: ['<rootDir>/test/clients/**/*.client.ts'] };
