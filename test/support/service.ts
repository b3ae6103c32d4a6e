import { randomUUID } from 'node:crypto';
import { createStore, type Store } from '@yardmaster/store';
import type { Redis } from 'ioredis';
import { connectTo } from './connect.js';
import { during } from './during.js';
import { fsck, removeJobs } from './fsck.js';
import { type CallOptions, HttpClient, type HttpResponse } from './http.js';
import { type RunningProcess, startApp } from './process.js';
import { ADMIN_KEY, LONG_REDIS_TIMEOUT, SHARED_ENV, sharedService } from './shared-service.js';
import { until } from './until.js';

export { ADMIN_KEY };

/** Fields of a key other than its scopes. */
interface KeyFields {
  name?: string;
  spaceId?: string;
  expiresAt?: string;
  limits?: { perSecond: number; burst: number };
}

export interface TestService {
  url: string;
  http: HttpClient;
  /** A connection of the test's own, to read what is stored. */
  redis: Redis;
  store: Store;
  prefix: string;
  /** Call an endpoint below /api/v1, with the admin key unless `key` is given. */
  call(method: string, path: string, options?: CallOptions): Promise<HttpResponse>;
  /** Create an API key and return it. */
  key(scopes: string[], fields?: KeyFields): Promise<{ id: string; key: string }>;
  /** The process, when it is the test's own. */
  process: RunningProcess | null;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  /** Which process to start, unless the shared service (a standalone) fits. Default: `standalone`, all in one. */
  app?: 'standalone' | 'api' | 'gateway' | 'scheduler';
  /** A Redis of the test's own; its URL is read when the service starts. Default: the shared one. */
  redis?: { readonly url: string };
  /** Whether to start a process for this file even if the shared service fits. Default false. */
  isOwn?: boolean;
  /**
   * Whether to keep the default REDIS_TIMEOUT_SECONDS, for tests of that limit. Others get 20 s, so that no test fails
   * because the machine is busy. Default false.
   */
  hasDefaultTimeouts?: boolean;
  /** Whether to check after the tests that records, indexes and histories agree. Default true. */
  check?: boolean;
}

/**
 * Start a service for all tests of the file, or of the `describe` block. Call it where the tests are declared.
 *
 * After the tests, records, indexes and histories must agree, and the jobs are removed. Jobs stay if `redis` or KEY_PREFIX
 * was given; behind nginx, the global teardown checks instead. A process started for the file must exit with 0.
 *
 * @param env settings that the tests need. If SHARED_ENV has all of them, the shared service is used; otherwise a service
 *   starts with these settings and without the others of SHARED_ENV, except the Redis timeout
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

/** How often this test file uses the shared service now. */
let uses = 0;

async function useShared({ check = true }: ServiceOptions): Promise<TestService> {
  const { url, redisUrl, isBehindProxy } = sharedService();
  uses++;
  const service = openService({ url, redisUrl, prefix: SHARED_ENV.KEY_PREFIX as string });
  return {
    ...service,
    call: isBehindProxy ? repeatWhileBusy(service.call) : service.call,
    async stop() {
      uses--;
      try {
        if (uses === 0 && !isBehindProxy) await checkAndRemoveJobs(service, check);
      } finally {
        await service.stop();
      }
    },
  };
}

/**
 * Repeat a call until the service has room for it. A topology shares the cores with another suite, so that it may be busy;
 * it has done nothing then.
 */
function repeatWhileBusy(call: TestService['call']): TestService['call'] {
  return async (...args) => {
    let response = await call(...args);
    await until(async () => {
      if (response.body?.code !== 'OVERLOADED') return true;
      response = await call(...args);
      return false;
    });
    return response;
  };
}

async function startOwn(env: Record<string, string>, options: ServiceOptions): Promise<TestService> {
  const { app = 'standalone', redis, check = true, hasDefaultTimeouts = false } = options;
  const redisUrl = redis?.url ?? sharedService().redisUrl;
  const prefix = env.KEY_PREFIX ?? `t-${randomUUID().slice(0, 8)}`;
  const timeout = hasDefaultTimeouts ? {} : LONG_REDIS_TIMEOUT;
  const variables = { ...timeout, ADMIN_API_KEY: ADMIN_KEY, KEY_PREFIX: prefix, REDIS_URL: redisUrl, ...env };
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
        await stopCleanly(running);
        // A given prefix is that of another service, which still runs, and a given Redis ends soon.
        if (env.KEY_PREFIX === undefined && redis === undefined) await checkAndRemoveJobs(service, check);
        else if (check) await checkConsistency(service);
      } finally {
        await service.stop();
      }
    },
  };
}

async function stopCleanly(running: RunningProcess): Promise<void> {
  const code = await running.stop();
  if (code !== 0) throw new Error(`the service exited with ${code}:\n${running.output().slice(-4_000)}`);
}

/** Check that records, indexes and histories agree. A running service may change them while they are read, so try again. */
async function checkConsistency({ store }: TestService): Promise<void> {
  let faults: string[] = [];
  const isGood = async () => {
    faults = await fsck(store);
    return faults.length === 0;
  };
  await until(isGood).catch((cause) => {
    throw new Error(`records, indexes and histories in Redis do not agree:\n${faults.join('\n')}`, { cause });
  });
}

/** Check what is stored, and remove it even if the check fails, so that the next file starts clean. */
async function checkAndRemoveJobs(service: TestService, check: boolean): Promise<void> {
  try {
    if (check) await checkConsistency(service);
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
    // Long reads wait for a free slot, which takes longer on a busy machine.
    store: createStore(redis, { keyPrefix: prefix, redisTimeoutMs: 60_000 }),
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
