import { API_VARIABLES, createApiServer } from '@yardmaster/api';
import { createLogger, readConfig } from '@yardmaster/runtime';
import { createHttpService, createServerContext, type ServerContext } from '@yardmaster/server';
import { during } from '../support/during.js';
import { HttpClient, type HttpResponse } from '../support/http.js';
import { createJob } from '../support/jobs.js';
import type { TestService } from '../support/service.js';
import { ADMIN_KEY, LONG_REDIS_TIMEOUT, sharedService } from '../support/shared-service.js';
import { until } from '../support/until.js';

/** An API in the test's own process, next to a service on the same Redis, so that a test can change its calls to Redis. */
export interface WaitingApi extends Pick<TestService, 'call' | 'http' | 'url'> {
  context: ServerContext;
  stop(): Promise<void>;
}

export interface WaitingApiOptions {
  /** Settings that differ from the defaults of tests. */
  env?: Record<string, string>;
  /** Default: the Redis that test files share. */
  redis?: { readonly url: string };
  /**
   * Whether waiting calls also check Redis at intervals. Default true. With false they depend on messages alone, so a test
   * fails when a message is missing.
   */
  hasChecks?: boolean;
  /** How often it reads the files of secrets again. Default: that of the service. */
  readSecretsEveryMs?: number;
}

export async function startApi({ prefix }: Pick<TestService, 'prefix'>, options: WaitingApiOptions = {}) {
  const { env = {}, redis, hasChecks = true, readSecretsEveryMs } = options;
  const defaults = {
    ...{ ...LONG_REDIS_TIMEOUT, PORT: '0', LOG_LEVEL: 'silent' },
    ...(env.ADMIN_API_KEY_FILE === undefined && { ADMIN_API_KEY: ADMIN_KEY }),
  };
  const config = {
    ...readConfig({ ...defaults, KEY_PREFIX: prefix, ...env }, API_VARIABLES),
    REDIS_URL: redis?.url ?? sharedService().redisUrl,
  };
  const log = createLogger('test', config.LOG_LEVEL);
  const context = createServerContext(config, log, readSecretsEveryMs === undefined ? {} : { readSecretsEveryMs });
  const { redis: connection } = context.store;
  if (!hasChecks) {
    const read = connection.hget.bind(connection) as (key: string, field: string) => Promise<string | null>;
    connection.hget = ((key: string, field: string) =>
      field === 'status' ? Promise.resolve('running') : read(key, field)) as never;
    connection.exists = () => Promise.resolve(0) as never;
  }
  const server = createApiServer({ context, config, log });
  const httpService = createHttpService({ name: 'test', context, server, config, log });
  await httpService.start();
  const url = httpService.url();
  const http = new HttpClient(url);
  const api: WaitingApi = {
    ...{ context, url, http },
    call: (method, path, options = {}) => http.call(method, `/api/v1${path}`, { key: ADMIN_KEY, ...options }),
    async stop() {
      http.close();
      await httpService.stop(10_000);
    },
  };
  return api;
}

/** Have an API in the process of the test for all tests of the file. */
export const withApi = (service: TestService, options: WaitingApiOptions = {}): WaitingApi =>
  during(
    () => startApi(service, options),
    (api) => api.stop(),
  );

type Api = Pick<TestService, 'http'>;

/** Return how many calls wait in a process. */
export async function waitingCalls({ http }: Api): Promise<number> {
  const { text } = await http.call('GET', '/metrics');
  return Number(/^yardmaster_waiting_calls (\d+)$/m.exec(text)?.[1]);
}

/** Wait until this many calls are waiting in a process. */
export const untilWaiting = (api: Api, calls: number) => until(async () => (await waitingCalls(api)) === calls);

/** Poll, and wait for up to 20 s. */
export const poll = (api: Pick<TestService, 'call'>, spaceId: string, body: object = {}): Promise<HttpResponse> =>
  api.call('POST', `/spaces/${spaceId}/jobs/poll`, { body: { waitSeconds: 20, ...body } });

let earlierPolls = 0;

/**
 * Make a poll wait while `act` runs, so that no call of `act` can end because its time is over: this one began first.
 *
 * @throws when the time of the poll is over
 */
export async function inTime(api: Api & Pick<TestService, 'call'>, act: () => Promise<void>): Promise<void> {
  const spaceId = `in-time-${++earlierPolls}-${process.pid}`;
  const before = await waitingCalls(api);
  const earlier = poll(api, spaceId);
  await untilWaiting(api, before + 1);
  await act();
  await createJob(api, spaceId);
  if (idsOf(await earlier).length === 0) throw new Error('a call has waited until its time was over');
}

/** Return the ids of the jobs of a response to a poll. */
export const idsOf = ({ body }: HttpResponse): string[] => body.jobs.map(({ id }: { id: string }) => id);
