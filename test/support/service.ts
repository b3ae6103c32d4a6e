import { randomUUID } from 'node:crypto';
import { createApi } from '@yardmaster/api';
import { createLogger, readConfig } from '@yardmaster/runtime';
import { createWhole, STANDALONE_VARIABLES } from '@yardmaster/standalone';
import { createStore, type Store } from '@yardmaster/store';
import type { Redis } from 'ioredis';
import { connectTo } from './connect.js';
import { fsck } from './fsck.js';
import { type Answer, type CallOptions, HttpClient } from './http.js';

export const ADMIN_KEY = 'admin-key-of-the-tests';

export interface TestService {
  url: string;
  http: HttpClient;
  /** A connection of the test's own, to look at what is stored. */
  redis: Redis;
  store: Store;
  prefix: string;
  /** Call an endpoint below /api/v1, as admin unless told. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Create an API key and return it. */
  key(scopes: string[], fields?: { spaceId?: string; expiresAt?: string }): Promise<{ id: string; key: string }>;
  stop(): Promise<void>;
}

/**
 * Start a service of the test file's own, HTTP, streams and scheduler in one: real sockets, the shared real Redis (or
 * `redisUrl`), its own key prefix. Or just one `app` of it. `stop` also checks that what it leaves in Redis agrees with itself.
 */
export async function startService(
  env: Record<string, string> = {},
  { redisUrl = process.env.TEST_REDIS_URL as string, check = true, app = createWhole } = {},
): Promise<TestService> {
  if (isGiven(env, redisUrl, app))
    return openService({ url: process.env.TEST_SERVICE_URL as string, redisUrl, prefix: GIVEN.KEY_PREFIX as string });
  const prefix = env.KEY_PREFIX ?? `t-${randomUUID().slice(0, 8)}`;
  const variables = { PORT: '0', ADMIN_API_KEY: ADMIN_KEY, KEY_PREFIX: prefix, LOG_LEVEL: 'silent', ...env };
  const config = readConfig(variables, STANDALONE_VARIABLES);
  const api = app({ ...config, REDIS_URL: redisUrl }, createLogger('test', config.LOG_LEVEL));
  await api.start();

  const service = openService({ url: api.url(), redisUrl, prefix });
  return {
    ...service,
    async stop() {
      service.http.close();
      await api.stop();
      const faults = check ? await fsck(service.redis, prefix) : [];
      service.redis.disconnect();
      if (faults.length > 0) throw new Error(`Redis does not agree with itself:\n${faults.join('\n')}`);
    },
  };
}

/** Settings of the service that test files share, when there is one (test/topology). */
const GIVEN: Record<string, string> = JSON.parse(process.env.TEST_SERVICE_ENV ?? '{}');

/** Whether the service that is there already will do: it has all these settings. */
function isGiven(env: Record<string, string>, redisUrl: string, app: unknown): boolean {
  return (
    process.env.TEST_SERVICE_URL !== undefined &&
    redisUrl === process.env.TEST_REDIS_URL &&
    (app === createWhole || app === createApi) &&
    Object.entries(env).every(([name, value]) => GIVEN[name] === value)
  );
}

interface Running {
  url: string;
  redisUrl: string;
  prefix: string;
  /** Default: that of the tests. */
  adminKey?: string;
}

/** A service that runs, seen by its address and by what it keeps in Redis; `stop` lets go of it and no more. */
export function openService({ url, redisUrl, prefix, adminKey = ADMIN_KEY }: Running): TestService {
  const redis = connectTo(redisUrl);
  const http = new HttpClient(url);
  const callOnce = (method: string, path: string, options: CallOptions) =>
    http.call(method, `/api/v1${path}`, 'key' in options ? options : { ...options, key: adminKey });

  async function call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const answer = await callOnce(method, path, options);
    if (url !== process.env.TEST_SERVICE_URL || method !== 'GET' || answer.status !== 503) return answer;
    // Other files keep a shared service busy. A read may be asked again, which is what Retry-After says.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return callOnce(method, path, options);
  }

  return {
    url,
    http,
    redis,
    store: createStore(redis, { keyPrefix: prefix }),
    prefix,
    call,
    async key(scopes, fields = {}) {
      const { status, body } = await call('POST', '/keys', { body: { name: 'test', scopes, ...fields } });
      if (status !== 201) throw new Error(`no key: ${JSON.stringify(body)}`);
      return body;
    },
    async stop() {
      http.close();
      redis.disconnect();
    },
  };
}
