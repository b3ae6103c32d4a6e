// npm run test:resilience: crashes, outages, failovers, a full memory and many clients, on each kind of Redis. These tests
// wait for outages to pass and for much work to be done, so npm test leaves them out. With TEST_SHORT=true this suite skips
// the slow files in LONG, which the topology and the fault suite cover in another way.
import base from '../../jest.config.mjs';

const LONG = ['redis/(shard-away|cluster-down|fsck)', 'logs-senders', 'scheduler-faults'];

/** @type {import('jest').Config} */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/resilience/**/*.test.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    ...(process.env.TEST_SHORT === 'true' ? LONG.map((name) => `<rootDir>/test/resilience/${name}\\.test\\.ts$`) : []),
  ],
  // They wait more than they compute.
  maxWorkers: 4,
};
