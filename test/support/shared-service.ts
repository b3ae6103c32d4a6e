/** API key of every service under test, with every scope. */
export const ADMIN_KEY = 'admin-key-of-the-tests';

/** A busy machine may take long over a command: no test fails for that, unless it is about this very limit. */
export const PATIENT = { REDIS_TIMEOUT_SECONDS: '20' };

/** Settings of the service that test files share. A file that needs other values gets a service of its own. */
export const SHARED_ENV: Record<string, string> = {
  ...PATIENT,
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
  /** Whether it is what docker-compose.yml describes, behind nginx. All workers use that one at the same time. */
  isBehindProxy: boolean;
}

/** The services of all jest workers: one for each, or one for all. */
export const toVariable = (services: SharedService[]) => ({ TEST_SERVICES: JSON.stringify(services) });

/** The service that this jest worker is to use. */
export function sharedService(): SharedService {
  const services: SharedService[] = JSON.parse(process.env.TEST_SERVICES ?? '[]');
  const service = services[(Number(process.env.JEST_WORKER_ID ?? 1) - 1) % services.length];
  if (service === undefined)
    throw new Error('there is no shared service: run this by npm test, or by another suite of package.json');
  return service;
}
