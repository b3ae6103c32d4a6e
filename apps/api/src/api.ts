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
import { drain, listen, urlOf } from './listen.js';
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
  const reads = createRedis(config.REDIS_URL, 'commands', log);
  const subscriber = createRedis(config.REDIS_URL, 'subscriber', log);
  const connections = [redis, reads, subscriber];
  const settings = {
    keyPrefix: config.KEY_PREFIX,
    deliveryTimeoutMs: config.DELIVERY_TIMEOUT_SECONDS * 1000,
    retentionMs: config.RETENTION_SECONDS * 1000,
    eventsPerJob: config.EVENTS_PER_JOB,
  };
  const store = createStore(redis, settings, reads);
  const keyRing = new KeyRing(store, { adminKey: config.ADMIN_API_KEY });
  const stopping = new AbortController();
  let isPrepared = false;

  const isReady = async () => {
    if (!isPrepared || stopping.signal.aborted) return false;
    return redis.ping().then(
      () => true,
      () => false,
    );
  };
  const app = createApp({
    store,
    keyRing,
    log,
    isReady,
    isStopping: () => stopping.signal.aborted,
    corsOrigins: config.CORS_ORIGINS,
    sizes: {
      bodyBytes: config.MAX_BODY_BYTES,
      payloadBytes: config.MAX_PAYLOAD_BYTES,
      eventBytes: config.MAX_EVENT_BYTES,
    },
  });
  const server = createServer(app);
  const watches: (() => void)[] = [];

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
      const listening = keyRing.listen(subscriber);
      for (const connection of connections) {
        // A first attempt that fails is followed by others; what waits for Redis is below.
        connection.connect().catch(() => undefined);
        watches.push(watchConnection(connection));
      }
      const onWait = (err: unknown) => log.warn({ err }, 'waiting for redis');
      await onceReachable(prepare, { isUnavailable, onWait, signal: stopping.signal });
      await listening;
      isPrepared = true;
      log.info({ url: urlOf(server) }, 'api listening');
    },
    async stop() {
      stopping.abort();
      await drain(server, (config.SHUTDOWN_SECONDS * 1000) / 2);
      for (const stopWatching of watches) stopWatching();
      for (const connection of connections) connection.disconnect();
    },
  };
}
