import { createApiServer } from '@yardmaster/api';
import { type Backend, createBackend, createFront } from '@yardmaster/backend';
import { createStreams } from '@yardmaster/gateway';
import { createLogger, readConfig } from '@yardmaster/runtime';
import { STANDALONE_VARIABLES } from '@yardmaster/standalone';
import { startRedis } from '../support/own-redis.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

type Connection = Backend['store']['redis'];
type Command = 'evalsha' | 'time';

/** A service, and beside it a second one whose streams can be made to wait for Redis. */
export interface LateReplies {
  service: TestService;
  /** Of the second one. */
  url: string;
  backend: Backend;
  /** Wait until the second one has heard all that was published so far. */
  untilHeard(): Promise<void>;
  stop(): Promise<void>;
}

/** Start both, on a Redis of their own: such tests cut connections of whoever subscribes. */
export async function startLateReplies(): Promise<LateReplies> {
  const redis = await startRedis();
  const service = await startService({}, { redisUrl: redis.url });
  const env = { PORT: '0', ADMIN_API_KEY: ADMIN_KEY, KEY_PREFIX: service.prefix, LOG_LEVEL: 'silent' };
  const config = readConfig(env, STANDALONE_VARIABLES);
  const log = createLogger('test', config.LOG_LEVEL);
  const backend = createBackend({ ...config, REDIS_URL: redis.url }, log);
  const streams = createStreams({ backend, config, log });
  const server = createApiServer({ backend, config, log, streams });
  const front = createFront({ name: 'test', backend, server, streams, config, log });
  await front.start();

  return {
    service,
    url: front.url(),
    backend,
    async untilHeard() {
      // What comes behind it on the same connection is here.
      const heard = new Promise<void>((resolve) => {
        backend.subscriptions.add('marker', {
          message: () => resolve(),
          lost: () => undefined,
          subscribed: () => undefined,
        });
      });
      await until(() => backend.subscriptions.hears('marker'));
      await service.redis.publish('marker', 'x');
      await heard;
      backend.subscriptions.remove('marker');
    },
    async stop() {
      await front.stop();
      await service.stop();
      await redis.stop();
    },
  };
}

/** Replace the next call of a command, whichever verb it is for. */
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

/** Hold back the reply of the next command: it is what it was before `meanwhile`. */
export function holdReply(connection: Connection, command: Command, meanwhile: () => Promise<unknown>): void {
  replaceNext(connection, command, async (call) => {
    const reply = await call();
    await meanwhile();
    return reply;
  });
}

/** Hold back the next command itself: its reply knows of what happens `meanwhile`. */
export function holdCommand(connection: Connection, command: Command, meanwhile: () => Promise<unknown>): void {
  replaceNext(connection, command, async (call) => {
    await meanwhile();
    return call();
  });
}
