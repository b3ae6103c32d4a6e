import { randomUUID } from 'node:crypto';
import { freePort } from '../support/free-port.js';
import { fsck } from '../support/fsck.js';
import { tokenOf } from '../support/job-state.js';
import { startRedis } from '../support/own-redis.js';
import { openService } from '../support/service.js';
import { startProcess } from '../support/topology/process.js';
import { createJobs, type Jobs } from './jobs.js';

const PREFIX = 'schemathesis';

/** Number of keys that calls may revoke. */
const KEYS = 20;

/** An API process with jobs and keys. */
export interface Target {
  url: string;
  /** Has every scope, and cannot be revoked by a generated call. */
  adminKey: string;
  jobs: Jobs;
  /** Token of the delivery of each job. */
  tokens: Record<string, string>;
  keyIds: string[];
  /** Output of the process. */
  output(): string;
  /**
   * Stop it.
   *
   * @returns faults that fsck finds in Redis
   */
  stop(): Promise<string[]>;
}

/**
 * Start Redis and an API process, and create jobs of every status, and keys. There is no scheduler, so that generated
 * callback URLs get no requests and no job times out.
 */
export async function startTarget(): Promise<Target> {
  const redis = await startRedis();
  const adminKey = `admin-${randomUUID()}`;
  const env = { REDIS_URL: redis.url, KEY_PREFIX: PREFIX, ADMIN_API_KEY: adminKey, LOG_LEVEL: 'error' };
  const api = await startProcess('api', await freePort(), { args: ['apps/api/dist/main.js'], env });
  const service = openService({ url: api.url, redisUrl: redis.url, prefix: PREFIX, adminKey });

  const jobs = await createJobs(service);
  const tokens: Record<string, string> = {};
  for (const id of Object.values(jobs).flat())
    tokens[id] = await tokenOf(service.redis, service.store.keys.job(id), '0.0');
  const keyIds: string[] = [];
  for (let i = 0; i < KEYS; i++) keyIds.push((await service.key(['jobs:read'])).id);

  return {
    url: api.url,
    adminKey,
    jobs,
    tokens,
    keyIds,
    output: api.output,
    async stop() {
      await api.stop();
      const faults = await fsck(service.store);
      await service.stop();
      await redis.stop();
      return faults;
    },
  };
}
