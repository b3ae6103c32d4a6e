// npm run test:long -- image: run the steps of the Dockerfile and of docker-compose.yml without Docker. npm test excludes these
// tests because they install packages twice.
import base from '../../jest.config.mjs';

/** @type {import('jest').Config} */
export default { ...base, rootDir: '../..', testMatch: ['<rootDir>/test/image/*.image.ts'] };
