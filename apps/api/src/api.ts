import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { YardmasterError } from '@yardmaster/protocol';
import {
  type Config,
  ConfigError,
  createRedis,
  type Logger,
  onceReachable,
  type Service,
  watchConnection,
} from '@yardmaster/runtime';
import { createStore, hasKeys, KeyRing, prepareRedis } from '@yardmaster/store';
import { createApp } from './app.js';
import { createServer } from './server.js';

/** Variables that the API reads. */
export const API_VARIABLES = [
  'PORT',
  'HOST',
  'REDIS_URL',
  'ADMIN_API_KEY',
  'KEY_PREFIX',
  'DELIVERY_TIMEOUT_SECONDS',
  'RETENTION_SECONDS',
  'EVENTS_PER_JOB',
  'MAX_BODY_BYTES',
  'MAX_PAYLOAD_BYTES',
  'MAX_EVENT_BYTES',
  'CORS_ORIGINS',
  'LOG_LEVEL',
  'SHUTDOWN_SECONDS',
] as const;

export type ApiConfig = Config<(typeof API_VARIABLES)[number]>;

/** The HTTP API as a service, and where it listens once started. */
export interface Api extends Service {
  /** `http://127.0.0.1:8080` */
  url(): string;
}

const isUnavailable = (error: unknown) => error instanceof YardmasterError && error.code === 'UNAVAILABLE';

/**
 * Make the HTTP API. It listens first and then waits for Redis: until Redis is there it is live, not ready, and
 * answers 503.
 *
 * `start` throws a ConfigError when nobody could ever authenticate: no ADMIN_API_KEY and no keys.
 */
export function createApi(config: ApiConfig & { REDIS_URL: string }, log: Logger): Api {
  const redis = createRedis(config.REDIS_URL, 'commands', log);
  const subscriber = createRedis(config.REDIS_URL, 'subscriber', log);
  const store = createStore(redis, {
    keyPrefix: config.KEY_PREFIX,
    deliveryTimeoutMs: config.DELIVERY_TIMEOUT_SECONDS * 1000,
    retentionMs: config.RETENTION_SECONDS * 1000,
    eventsPerJob: config.EVENTS_PER_JOB,
  });
  const keyRing = new KeyRing(store, { adminKey: config.ADMIN_API_KEY });
  const stopping = new AbortController();
  let prepared = false;

  const app = createApp({
    store,
    keyRing,
    log,
    corsOrigins: config.CORS_ORIGINS,
    sizes: {
      bodyBytes: config.MAX_BODY_BYTES,
      payloadBytes: config.MAX_PAYLOAD_BYTES,
      eventBytes: config.MAX_EVENT_BYTES,
    },
    isReady: async () => {
      if (!prepared || stopping.signal.aborted) return false;
      return redis.ping().then(
        () => true,
        () => false,
      );
    },
  });
  const server = createServer(app);
  const stopWatching: (() => void)[] = [];

  async function prepare(): Promise<void> {
    const warnings = await prepareRedis(store);
    for (const warning of warnings) log.warn(warning);
    if (config.ADMIN_API_KEY === undefined && !(await hasKeys(store))) {
      throw new ConfigError(['ADMIN_API_KEY is required, because there is no API key yet and nobody could make one']);
    }
  }

  return {
    name: 'api',
    url: () => urlOf(server),
    async start() {
      await listen(server, config.PORT, config.HOST);
      // A first attempt that fails is followed by others; what waits for Redis is below.
      for (const connection of [redis, subscriber]) {
        connection.connect().catch(() => undefined);
        stopWatching.push(watchConnection(connection));
      }
      await onceReachable(prepare, { isUnavailable, signal: stopping.signal });
      await keyRing.listen(subscriber);
      prepared = true;
      log.info({ url: urlOf(server) }, 'api listening');
    },
    async stop() {
      stopping.abort();
      for (const stop of stopWatching) stop();
      await drain(server);
      redis.disconnect();
      subscriber.disconnect();
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Accept nothing new and wait for the open requests; their connections close as they fall idle. */
async function drain(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise((resolve) => server.close(resolve));
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  await closed;
  clearInterval(sweep);
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
