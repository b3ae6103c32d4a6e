import { HttpClient } from '../support/http.js';
import { INSPECTED } from '../support/live-memory.js';
import { startRedis } from '../support/own-redis.js';
import { type RunningProcess, runApp } from '../support/process.js';
import type { TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { BOUND_SCOPES, CALLS_SPACE, JOBS_SPACE } from './keys.js';

/** The service as users run it: Redis, an API and a scheduler, each a process. */
export interface FuzzedService extends Pick<TestService, 'call'> {
  port: number;
  http: HttpClient;
  /** Texts of the keys of the run. */
  keys: { admin: string; bound: string };
  /** Id of an operation that changes no job, in a space in which no request starts one. */
  operationId: string;
  redisUrl: string;
  api: RunningProcess;
  scheduler: RunningProcess;
  /** Stop all processes. */
  stop(): Promise<void>;
}

export async function startFuzzed(): Promise<FuzzedService> {
  const redis = await startRedis();
  const admin = 'admin-key-of-the-fuzzer-of-yardmaster';
  const env = { PORT: '0', ADMIN_API_KEY: admin, REDIS_URL: redis.url, DELIVERY_TIMEOUT_SECONDS: '86400' };
  const scheduler = runApp('scheduler', env);
  const api = runApp('api', { ...env, ...INSPECTED });
  const url = () => /"url":"([^"]+)"/.exec(api.output())?.[1] as string;
  await until(() => url() !== undefined || api.child.exitCode !== null);
  const http = new HttpClient(url());
  const call: TestService['call'] = (method, path, options) =>
    http.call(method, `/api/v1${path}`, { key: admin, ...options });
  const bound = await call('POST', '/keys', { body: { name: 'bound', scopes: BOUND_SCOPES, spaceId: CALLS_SPACE } });
  const nothing = { action: 'kill', filter: { status: 'running', ids: [`00${'a'.repeat(26)}`] } };
  const operation = await call('POST', `/spaces/${JOBS_SPACE}/operations`, { body: nothing });
  const port = Number(new URL(url()).port);
  return {
    ...{ call, http, api, scheduler, port, redisUrl: redis.url },
    keys: { admin, bound: bound.body.key },
    operationId: operation.body.id,
    async stop() {
      http.close();
      await Promise.all([api.stop('SIGKILL'), scheduler.stop('SIGKILL')]);
      await redis.stop();
    },
  };
}
