// npm run test:clients: clients of other makers, those of the streams through nginx as docs/nginx.conf sets it up. They
// need nginx, Chromium, curl and jq on the machine, so they are called *.client.ts and npm test does not see them.
import base from '../../jest.config.mjs';

/** @type {import('jest').Config} */
export default { ...base, rootDir: '../..', testMatch: ['<rootDir>/test/clients/*.client.ts'] };
