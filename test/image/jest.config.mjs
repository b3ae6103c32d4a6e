// npm run test:image: what the Dockerfile and docker-compose.yml say, done without Docker. It installs packages, twice, so
// npm test leaves it out.
import base from '../../jest.config.mjs';

/** @type {import('jest').Config} */
export default { ...base, rootDir: '../..', testMatch: ['<rootDir>/test/image/*.image.ts'] };
