/** API key of every service under test, with every scope. */
export const ADMIN_KEY = 'admin-key-of-the-tests-of-yardmaster';

/** A long timeout for Redis, so that a slow machine fails no test except those of the timeout itself. */
export const LONG_REDIS_TIMEOUT = { REDIS_TIMEOUT_SECONDS: '20' };

/** Settings of the service that test files share. */
export const SHARED_ENV: Record<string, string> = {
  ...LONG_REDIS_TIMEOUT,
  ADMIN_API_KEY: ADMIN_KEY,
  KEY_PREFIX: 'shared',
  CALLBACK_ALLOW_PRIVATE: 'true',
  CALLBACK_RETRY_DELAYS: '0.05',
  STREAMS_PER_ADDRESS: '1000',
};

/** A running service that test files share, and its Redis. */
export interface SharedService {
  url: string;
  redisUrl: string;
  /** Whether it is what docker-compose.yml describes, behind nginx. All Jest workers share it. */
  isBehindProxy: boolean;
}

/** Encode the shared services as the variable TEST_SERVICES: one per Jest worker, or a single one for all. */
export const toVariable = (services: SharedService[]) => ({ TEST_SERVICES: JSON.stringify(services) });

/** Return the service that this Jest worker uses. */
export function sharedService(): SharedService {
  const services: SharedService[] = JSON.parse(process.env.TEST_SERVICES ?? '[]');
  const service = services[(Number(process.env.JEST_WORKER_ID ?? 1) - 1) % services.length];
  if (service === undefined)
    throw new Error('TEST_SERVICES is not set: run the tests with npm test or another test script of package.json');
  return service;
}
