import http from 'node:http';
import { createStreams, GATEWAY_VARIABLES } from '@yardmaster/gateway';
import { createLogger, readConfig } from '@yardmaster/runtime';
import { attachStreams, createHttpService, createServerContext, type ServerContext } from '@yardmaster/server';
import { during } from '../support/during.js';
import { withRedis } from '../support/own-redis.js';
import { type TestService, withService } from '../support/service.js';
import { ADMIN_KEY, LONG_REDIS_TIMEOUT } from '../support/shared-service.js';
import { until } from '../support/until.js';

type Connection = ServerContext['store']['redis'];
type Command = 'evalsha' | 'time';

/** A gateway in this process whose calls to Redis can be delayed. */
export interface HeldGateway {
  url: string;
  context: ServerContext;
  /** Wait until the gateway has received all that was published so far. */
  untilReceived(): Promise<void>;
}

/**
 * Have an API, and a gateway whose calls to Redis can be delayed, both on a Redis of their own.
 *
 * Moments that are too short to be hit by chance stay open as long as a test needs them.
 *
 * @param random see StreamsOptions
 */
export function withHeldGateway(random?: () => number): { service: TestService; gateway: HeldGateway } {
  const redis = withRedis();
  const service = withService({}, { redis, app: 'api' });
  const gateway = during(
    () => startGateway(redis.url, service, random),
    ({ stop }) => stop(),
  );
  return { service, gateway };
}

async function startGateway(redisUrl: string, { prefix, redis }: TestService, random = Math.random) {
  const env = { ...LONG_REDIS_TIMEOUT, PORT: '0', ADMIN_API_KEY: ADMIN_KEY, KEY_PREFIX: prefix, LOG_LEVEL: 'silent' };
  const config = { ...readConfig(env, GATEWAY_VARIABLES), REDIS_URL: redisUrl };
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
      const received = new Promise<void>((resolve) => {
        const ignore = () => undefined;
        context.subscriptions.add('marker', { message: () => resolve(), lost: ignore, subscribed: ignore });
      });
      await until(() => context.subscriptions.hears('marker'));
      await redis.publish('marker', 'x');
      await received;
      context.subscriptions.remove('marker');
    },
    stop: () => httpService.stop(),
  };
}

/** Delay the next command of a connection, before or after Redis runs it. */
function hold(connection: Connection, command: Command, deps: (call: () => Promise<unknown>) => Promise<unknown>) {
  const original = connection[command].bind(connection) as (...args: unknown[]) => Promise<unknown>;
  connection[command] = ((...args: unknown[]) => {
    connection[command] = original as never;
    return deps(() => original(...args));
  }) as never;
}

/** Delay the reply of the next command. It shows what was there before `meanwhile`. */
export const holdReply = (connection: Connection, command: Command, meanwhile: () => Promise<unknown>): void =>
  hold(connection, command, async (call) => {
    const reply = await call();
    await meanwhile();
    return reply;
  });

/** Delay the next command itself. Its reply shows what happened in `meanwhile`. */
export const holdCommand = (connection: Connection, command: Command, meanwhile: () => Promise<unknown>): void =>
  hold(connection, command, async (call) => {
    await meanwhile();
    return call();
  });
