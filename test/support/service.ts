import { randomUUID } from 'node:crypto';
import { createStore, type Store } from '@yardmaster/store';
import type { Redis } from 'ioredis';
import { connectTo } from './connect.js';
import { during } from './during.js';
import { fsck, removeJobs } from './fsck.js';
import { type Answer, type CallOptions, HttpClient } from './http.js';
import { type RunningProcess, startApp } from './process.js';
import { ADMIN_KEY, PATIENT, SHARED_ENV, sharedService } from './shared-service.js';
import { until } from './until.js';

export { ADMIN_KEY };

export interface TestService {
  url: string;
  http: HttpClient;
  /** A connection of the test's own, to look at what is stored. */
  redis: Redis;
  store: Store;
  prefix: string;
  /** Call an endpoint below /api/v1, as admin unless `key` says otherwise. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Create an API key and return it. */
  key(scopes: string[], fields?: { spaceId?: string; expiresAt?: string }): Promise<{ id: string; key: string }>;
  /** The process, when it is the test's own. */
  process: RunningProcess | null;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  /** Which process to start. Default: `standalone`, that is HTTP, streams and scheduler in one. */
  app?: 'standalone' | 'api' | 'gateway' | 'scheduler';
  /** A Redis of the test's own; its URL is read when the service starts. Default: the shared one. */
  redis?: { readonly url: string };
  /** Whether it must be a process that no other test file uses. Default: only if its settings or its Redis differ. */
  isOwn?: boolean;
  /** Whether Redis has as little time as by default: for tests about this limit. A busy machine makes others wait. */
  hasDefaultTimeouts?: boolean;
  /** Whether to compare records and indexes in the end. Default true. */
  check?: boolean;
}

/**
 * Have a service for all tests of the file, or of the `describe` block: call it where the tests are declared.
 *
 * It is the shared service when that one has all these settings. In the end what is stored is compared with itself and
 * removed, and a process of the file's own must exit 0.
 *
 * @param env settings that differ from their defaults and from SHARED_ENV
 */
export function withService(env: Record<string, string> = {}, options: ServiceOptions = {}): TestService {
  return during(
    () => startService(env, options),
    (service) => service.stop(),
  );
}

/** Start a service, as `withService` does, for a single test, which stops it. */
export function startService(env: Record<string, string> = {}, options: ServiceOptions = {}): Promise<TestService> {
  const { app = 'standalone', redis, isOwn = false, hasDefaultTimeouts = false } = options;
  const isShared =
    !isOwn &&
    !hasDefaultTimeouts &&
    redis === undefined &&
    (app === 'standalone' || app === 'api') &&
    Object.entries(env).every(([name, value]) => SHARED_ENV[name] === value);
  return isShared ? useShared(options) : startOwn(env, options);
}

/** How often this test file uses the shared service just now. */
let uses = 0;

async function useShared({ check = true }: ServiceOptions): Promise<TestService> {
  const { url, redisUrl, isBehindProxy } = sharedService();
  uses++;
  const service = openService({ url, redisUrl, prefix: SHARED_ENV.KEY_PREFIX as string });
  return {
    ...service,
    async stop() {
      uses--;
      try {
        if (uses === 0 && !isBehindProxy) await leaveNothing(service, check);
      } finally {
        await service.stop();
      }
    },
  };
}

async function startOwn(env: Record<string, string>, options: ServiceOptions): Promise<TestService> {
  const { app = 'standalone', redis, check = true, hasDefaultTimeouts = false } = options;
  const redisUrl = redis?.url ?? sharedService().redisUrl;
  const prefix = env.KEY_PREFIX ?? `t-${randomUUID().slice(0, 8)}`;
  const patience = hasDefaultTimeouts ? {} : PATIENT;
  const variables = { ...patience, ADMIN_API_KEY: ADMIN_KEY, KEY_PREFIX: prefix, REDIS_URL: redisUrl, ...env };
  const running = await startApp(
    app,
    app === 'scheduler' ? { CALLBACK_ALLOW_PRIVATE: 'true', ...variables } : variables,
  );
  const service = openService({ url: running.url, redisUrl, prefix });
  return {
    ...service,
    process: running,
    async stop() {
      try {
        await endWell(running);
        // A prefix that was given is that of another service, which is still at work, and a Redis that was given ends soon.
        if (env.KEY_PREFIX === undefined && redis === undefined) await leaveNothing(service, check);
        else if (check) await agree(service);
      } finally {
        await service.stop();
      }
    },
  };
}

async function endWell(running: RunningProcess): Promise<void> {
  const code = await running.stop();
  if (code !== 0) throw new Error(`the service exited with ${code}:\n${running.output().slice(-4_000)}`);
}

/** Compare what is stored with itself. A service at work may change it while it is read, so it is read again. */
async function agree({ redis, prefix }: TestService): Promise<void> {
  let faults: string[] = [];
  const isGood = async () => {
    faults = await fsck(redis, prefix);
    return faults.length === 0;
  };
  await until(isGood, 10_000).catch(() => {
    throw new Error(`Redis does not agree with itself:\n${faults.join('\n')}`);
  });
}

/** Compare what is stored with itself, and remove it in any case, so that the next file does not fail for this one. */
async function leaveNothing(service: TestService, check: boolean): Promise<void> {
  try {
    if (check) await agree(service);
  } finally {
    await removeJobs(service.redis, service.prefix);
  }
}

interface Running {
  url: string;
  redisUrl: string;
  prefix: string;
  /** Default: that of the tests. */
  adminKey?: string;
}

/** Use a service that runs already; `stop` only closes the connections to it. */
export function openService({ url, redisUrl, prefix, adminKey = ADMIN_KEY }: Running): TestService {
  const redis = connectTo(redisUrl);
  const http = new HttpClient(url);
  const call = (method: string, path: string, options: CallOptions = {}) =>
    http.call(method, `/api/v1${path}`, 'key' in options ? options : { ...options, key: adminKey });

  return {
    url,
    http,
    redis,
    store: createStore(redis, { keyPrefix: prefix }),
    prefix,
    call,
    process: null,
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
