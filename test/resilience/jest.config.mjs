// npm run test:resilience: the service and its Redis are killed, cut off, filled up and crowded, on each kind of Redis. These
// tests wait for outages to pass and for much work to be done, so npm test leaves them out. With TEST_SHORT=true it leaves
// out itself what takes long and what the topology and the fault suite show in another way.
import base from '../../jest.config.mjs';

const LONG = ['redis/(kinds|shard-away|cluster-down|fsck)', 'logs-senders', 'scheduler-faults'];

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
