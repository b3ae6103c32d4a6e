import { randomUUID } from 'node:crypto';
import { freePort } from '../support/free-port.js';
import { fsck } from '../support/fsck.js';
import { startRedis } from '../support/own-redis.js';
import { openService } from '../support/service.js';
import { startProcess } from '../support/topology/process.js';
import { createJobs, type Jobs } from './jobs.js';

const PREFIX = 'schemathesis';

/** Keys to be revoked. */
const KEYS = 20;

/** An API process with something in it to be called for. */
export interface Target {
  url: string;
  /** Holds every scope, and cannot be revoked by whoever guesses or lists keys. */
  adminKey: string;
  jobs: Jobs;
  keyIds: string[];
  /** What the process has said. */
  output(): string;
  /**
   * End it.
   *
   * @returns what does not agree in what it leaves in Redis
   */
  stop(): Promise<string[]>;
}

/**
 * Start Redis and an API process, and create jobs of every status, and keys. No scheduler: nothing is sent to the
 * callback URLs that are made up, and no time-out takes a job away.
 */
export async function startTarget(): Promise<Target> {
  const redis = await startRedis();
  const adminKey = `admin-${randomUUID()}`;
  const env = { REDIS_URL: redis.url, KEY_PREFIX: PREFIX, ADMIN_API_KEY: adminKey, LOG_LEVEL: 'error' };
  const api = await startProcess('api', await freePort(), { args: ['apps/api/dist/main.js'], env });
  const service = openService({ url: api.url, redisUrl: redis.url, prefix: PREFIX, adminKey });

  const jobs = await createJobs(service);
  const keyIds: string[] = [];
  for (let i = 0; i < KEYS; i++) keyIds.push((await service.key(['jobs:read'])).id);

  return {
    url: api.url,
    adminKey,
    jobs,
    keyIds,
    output: api.output,
    async stop() {
      await api.stop();
      const faults = await fsck(service.redis, PREFIX);
      await service.stop();
      await redis.stop();
      return faults;
    },
  };
}
