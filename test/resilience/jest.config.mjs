// npm run test:resilience: test crashes, outages, failovers, a full memory and many clients, on each kind of Redis. npm
// test excludes these tests because they wait for outages and much work. With TEST_SHORT=true this suite skips the slow
// files in LONG; the topology and the fault suite cover most of them in another way.
import base from '../../jest.config.mjs';

const LONG = [
  'redis/(shard-outage|cluster-down|fsck|kinds)',
  'batch',
  'cli-logs-outage',
  'logs-memory',
  'logs-senders',
  'scheduler-crash',
  'scheduler-faults',
];

/** @type {import('jest').Config} */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/resilience/**/*.test.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    ...(process.env.TEST_SHORT === 'true' ? LONG.map((name) => `<rootDir>/test/resilience/${name}\\.test\\.ts$`) : []),
  ],
  maxWorkers: Math.max(base.maxWorkers, 4), // These tests mostly wait.
};
