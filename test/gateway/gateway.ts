import http from 'node:http';
import { expect } from '@jest/globals';
import { createStreams, GATEWAY_VARIABLES } from '@yardmaster/gateway';
import { createLogger, readConfig } from '@yardmaster/runtime';
import { attachStreams, createHttpService, createServerContext, type ServerContext } from '@yardmaster/server';
import { during } from '../support/during.js';
import { withRedis } from '../support/own-redis.js';
import { type RunningApp, startApp } from '../support/process.js';
import { type TestService, withService } from '../support/service.js';
import { ADMIN_KEY, LONG_REDIS_TIMEOUT, sharedService } from '../support/shared-service.js';
import { until } from '../support/until.js';

/**
 * Run a gateway next to a service, on the same Redis and key prefix, for all tests of the file or of the `describe` block.
 *
 * @param env settings that differ from the defaults of tests; `undefined` leaves one out
 * @param redis default: the shared one
 */
export const withGateway = (
  service: Pick<TestService, 'prefix'>,
  env: Record<string, string | undefined> = {},
  redis?: { readonly url: string },
): RunningApp =>
  during(
    () => {
      const REDIS_URL = redis?.url ?? sharedService().redisUrl;
      return startApp('gateway', {
        ...LONG_REDIS_TIMEOUT,
        ADMIN_API_KEY: ADMIN_KEY,
        KEY_PREFIX: service.prefix,
        REDIS_URL,
        ...env,
      });
    },
    async (gateway) => expect(await gateway.stop()).toBe(0),
  );

/** A gateway in the process of the test, whose calls to Redis the test can delay. */
export interface InProcessGateway {
  url: string;
  context: ServerContext;
  /** Wait until the gateway has received all that was published so far. */
  untilReceived(): Promise<void>;
}

/**
 * Have an API, and a gateway in the process of the test, both on a Redis of their own.
 *
 * @param random see StreamsOptions
 * @param more settings of the gateway
 */
export function withInProcessGateway(
  random?: () => number,
  more: Record<string, string> = {},
): { service: TestService; gateway: InProcessGateway } {
  const redis = withRedis();
  const service = withService({}, { redis, app: 'api' });
  const gateway = during(
    () => startInProcess(redis.url, service, more, random),
    ({ stop }) => stop(),
  );
  return { service, gateway };
}

async function startInProcess(
  redisUrl: string,
  { prefix, redis }: TestService,
  more: Record<string, string>,
  random = Math.random,
) {
  const env = { ...LONG_REDIS_TIMEOUT, PORT: '0', ADMIN_API_KEY: ADMIN_KEY, KEY_PREFIX: prefix, LOG_LEVEL: 'silent' };
  const config = { ...readConfig({ ...env, ...more }, GATEWAY_VARIABLES), REDIS_URL: redisUrl };
  const log = createLogger('test', config.LOG_LEVEL);
  const context = createServerContext(config, log);
  const streams = createStreams({ context, config, log, random });
  class Request extends http.IncomingMessage {}
  const server = http.createServer({ IncomingMessage: Request });
  attachStreams(server, Request, streams);
  const httpService = createHttpService({ name: 'test', context, server, streams, config, log });
  await httpService.start();

  return {
    url: httpService.url(),
    context,
    async untilReceived() {
      // A message on another channel comes over the same connection, after all that was published before it.
      let resolve = () => {};
      const received = new Promise<void>((then) => {
        resolve = then;
      });
      const ignore = () => undefined;
      const marker = { message: () => resolve(), lost: ignore, subscribed: ignore };
      context.subscriptions.add('marker', marker);
      await until(() => context.subscriptions.isSubscribed('marker'));
      await redis.publish('marker', 'x');
      await received;
      context.subscriptions.remove('marker', marker);
    },
    stop: () => httpService.stop(10_000),
  };
}

type Connection = ServerContext['store']['redis'];
type Command = 'evalsha' | 'time';

/** Run a function before the caller gets the reply of the next command, which shows the state before it. */
export const delayReply = (connection: Connection, command: Command, meanwhile: () => Promise<unknown>): void =>
  replaceNext(connection, command, async (call) => {
    const reply = await call();
    await meanwhile();
    return reply;
  });

/** Run a function before Redis gets the next command, whose reply shows the state after it. */
export const delayCommand = (connection: Connection, command: Command, meanwhile: () => Promise<unknown>): void =>
  replaceNext(connection, command, async (call) => {
    await meanwhile();
    return call();
  });

/** Replace the next call of a command, so that moments that are too short for a test last as long as it needs them. */
function replaceNext(
  connection: Connection,
  command: Command,
  replacement: (call: () => Promise<unknown>) => Promise<unknown>,
): void {
  const original = connection[command].bind(connection) as (...args: unknown[]) => Promise<unknown>;
  connection[command] = ((...args: unknown[]) => {
    connection[command] = original as never;
    return replacement(() => original(...args));
  }) as never;
}
