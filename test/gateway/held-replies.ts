import http from 'node:http';
import { attachStreams, type Backend, createBackend, createFront } from '@yardmaster/backend';
import { createStreams, GATEWAY_VARIABLES } from '@yardmaster/gateway';
import { createLogger, readConfig } from '@yardmaster/runtime';
import { during } from '../support/during.js';
import { withRedis } from '../support/own-redis.js';
import { type TestService, withService } from '../support/service.js';
import { ADMIN_KEY, LONG_REDIS_TIMEOUT } from '../support/shared-service.js';
import { until } from '../support/until.js';

type Connection = Backend['store']['redis'];
type Command = 'evalsha' | 'time';

/** A gateway in this process: its calls to Redis can be held back. */
export interface HeldGateway {
  url: string;
  backend: Backend;
  /** Wait until the gateway has received all that was published so far. */
  untilReceived(): Promise<void>;
}

/**
 * Have an API and beside it a gateway whose calls to Redis can be held back, both on a Redis of their own: moments that are
 * too short to be hit by chance stay open as long as a test needs them.
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
  const backend = createBackend(config, log);
  const streams = createStreams({ backend, config, log, random });
  class Request extends http.IncomingMessage {}
  const server = http.createServer({ IncomingMessage: Request });
  attachStreams(server, Request, streams);
  const front = createFront({ name: 'test', backend, server, streams, config, log });
  await front.start();

  return {
    url: front.url(),
    backend,
    async untilReceived() {
      // A message on another channel comes over the same connection, after all that was published before it.
      const received = new Promise<void>((resolve) => {
        const ignore = () => undefined;
        backend.subscriptions.add('marker', { message: () => resolve(), lost: ignore, subscribed: ignore });
      });
      await until(() => backend.subscriptions.hears('marker'));
      await redis.publish('marker', 'x');
      await received;
      backend.subscriptions.remove('marker');
    },
    stop: () => front.stop(),
  };
}

/** Do something while a command of a connection waits, before or after Redis runs it. */
function hold(connection: Connection, command: Command, around: (call: () => Promise<unknown>) => Promise<unknown>) {
  const original = connection[command].bind(connection) as (...args: unknown[]) => Promise<unknown>;
  connection[command] = ((...args: unknown[]) => {
    connection[command] = original as never;
    return around(() => original(...args));
  }) as never;
}

/** Hold back the reply of the next command: it shows what was there before `meanwhile`. */
export const holdReply = (connection: Connection, command: Command, meanwhile: () => Promise<unknown>): void =>
  hold(connection, command, async (call) => {
    const reply = await call();
    await meanwhile();
    return reply;
  });

/** Hold back the next command itself: its reply shows what happened `meanwhile`. */
export const holdCommand = (connection: Connection, command: Command, meanwhile: () => Promise<unknown>): void =>
  hold(connection, command, async (call) => {
    await meanwhile();
    return call();
  });
