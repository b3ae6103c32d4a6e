import { availableParallelism } from 'node:os';

const swc = [
  '@swc/jest',
  { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'es6' }, sourceMaps: 'inline' },
];

/** @type {import('jest').Config} */
export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/resilience/'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': swc },
  // Tests run the sources, so that a stack trace shows source lines.
  moduleNameMapper: {
    '^@yardmaster/(protocol|redis|runtime|store|fsck|server)$': '<rootDir>/packages/$1/src/index.ts',
    '^@yardmaster/(api|gateway|scheduler|standalone|cli)$': '<rootDir>/apps/$1/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  modulePathIgnorePatterns: ['<rootDir>/.cache/'],
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  // Generous, because a busy machine must not fail a test.
  testTimeout: 180_000,
  // More than cores, because tests often wait; not many more, because each worker starts a Redis and a service.
  maxWorkers: Math.min(2 * availableParallelism() + 1, 8),
};
