import { createLogger, createRedis } from '@yardmaster/runtime';
import type { Redis } from 'ioredis';
import { HttpClient } from '../support/http.js';
import { startRedis } from '../support/own-redis.js';
import { type RunningProcess, runApp } from '../support/process.js';
import { until } from '../support/until.js';
import { Jobs } from './jobs.js';
import { JOBS_SPACE, KEYS, type KeyName } from './keys.js';

/** What tells how much memory a process holds once its garbage is gone (bench/soak/live-memory.mjs). */
export interface Inspector {
  env: Record<string, string>;
  read(): Promise<{ heapBytes: number; externalBytes: number; besideBytes: number }>;
}

/** The service as users run it: Redis, an API and a scheduler, each a process. */
export interface FuzzedService {
  url: string;
  port: number;
  http: HttpClient;
  jobs: Jobs;
  /** Text of each key of the run. */
  keys: Record<KeyName, string>;
  inspector: Inspector;
  redis: Redis;
  redisUrl: string;
  api: RunningProcess;
  scheduler: RunningProcess;
  /** End all that is left. */
  stop(): Promise<void>;
}

export const ADMIN_KEY = 'admin-key-of-the-fuzzer';
const DAY = '86400';

async function started(app: string, env: Record<string, string>): Promise<{ process: RunningProcess; url: string }> {
  const running = runApp(app, { PORT: '0', ADMIN_API_KEY: ADMIN_KEY, ...env });
  const url = () => /"url":"([^"]+)"/.exec(running.output())?.[1];
  await until(() => url() !== undefined || running.child.exitCode !== null);
  if (url() === undefined) throw new Error(`the ${app} ended:\n${running.output()}`);
  return { process: running, url: url() as string };
}

async function makeKeys(http: HttpClient): Promise<Record<KeyName, string>> {
  const keys: Record<string, string> = { admin: ADMIN_KEY };
  for (const [name, { scopes, spaceId, ...rest }] of Object.entries(KEYS)) {
    if (scopes === null) continue;
    const is = 'is' in rest ? rest.is : null;
    const expiresAt = is === 'expired' ? '2020-01-01T00:00:00Z' : null;
    const { body } = await http.call('POST', '/api/v1/keys', {
      key: ADMIN_KEY,
      body: { name, scopes, spaceId, expiresAt },
    });
    if (is === 'revoked') await http.call('DELETE', `/api/v1/keys/${body.id}`, { key: ADMIN_KEY });
    keys[name] = body.key;
  }
  return keys as Record<KeyName, string>;
}

/** A job that was deleted when its retention was over: ended in an API that keeps ended jobs for a second. */
async function purgedJob(env: Record<string, string>): Promise<string> {
  const { process: api, url } = await started('api', { ...env, RETENTION_SECONDS: '1' });
  const http = new HttpClient(url);
  const id = await new Jobs(http, ADMIN_KEY, []).make('killed');
  await until(async () => (await http.call('GET', `/api/v1/jobs/${id}`, { key: ADMIN_KEY })).status === 404);
  http.close();
  await api.stop();
  return id;
}

export async function startFuzzed(inspector: Inspector): Promise<FuzzedService> {
  const server = await startRedis();
  const env = { REDIS_URL: server.url, DELIVERY_TIMEOUT_SECONDS: DAY };
  const { process: scheduler } = await started('scheduler', env);
  const { process: api, url } = await started('api', { ...env, ...inspector.env });
  const redis = createRedis(server.url, 'worker', createLogger('fuzz', 'silent')) as Redis;
  const http = new HttpClient(url);
  const jobs = new Jobs(http, ADMIN_KEY, [await purgedJob(env)]);
  // That the space is there, and has somebody in it.
  await jobs.make('pending');
  return {
    url,
    port: Number(new URL(url).port),
    http,
    jobs,
    keys: await makeKeys(http),
    inspector,
    redis,
    redisUrl: server.url,
    api,
    scheduler,
    async stop() {
      http.close();
      redis.disconnect();
      await Promise.all([api.stop('SIGKILL'), scheduler.stop('SIGKILL')]);
      await server.stop();
    },
  };
}

/** A key that nobody uses, to be revoked. */
export async function spareKey(http: HttpClient): Promise<string> {
  const { body } = await http.call('POST', '/api/v1/keys', {
    key: ADMIN_KEY,
    body: { name: 'spare', scopes: ['jobs:ack'], spaceId: JOBS_SPACE },
  });
  return body.id;
}
