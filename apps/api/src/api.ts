import {
  BACKEND_VARIABLES,
  type Backend,
  createBackend,
  createFront,
  FRONT_VARIABLES,
  type Front,
  overloadMetrics,
  protectServer,
  SERVER_OPTIONS,
  type Streams,
} from '@yardmaster/backend';
import type { Config, Logger } from '@yardmaster/runtime';
import { carriedOutWithinMs } from '@yardmaster/store';
import { createApp } from './app.js';
import { createDirect } from './direct.js';
import { createExpressServer } from './fast-express.js';
import { RedisQueue } from './limits/redis-queue.js';
import { logRequests } from './request-log.js';
import { ROUTES } from './routes.js';
import { createServing } from './serve.js';
import type { SizeLimits } from './sizes.js';

/**
 * For so long an API believes a key: 5 s after a revocation that it has not heard of the key is of no use any more. It
 * has no streams, for which the store's own, shorter time is; and it may have a thousand workers with a key each, who
 * poll once a second.
 */
const KEY_BELIEVED_MS = 4_500;

/** Variables that the API reads. */
export const API_VARIABLES = [
  ...BACKEND_VARIABLES,
  ...FRONT_VARIABLES,
  'MAX_IN_FLIGHT',
  'MAX_BODY_BYTES',
  'MAX_PAYLOAD_BYTES',
  'MAX_EVENT_BYTES',
  'MAX_LOG_ENTRIES',
  'MAX_LOG_BATCH_BYTES',
  'MAX_LOG_WIRE_BYTES',
  'MAX_LOG_ENTRY_BYTES',
  'CALLBACK_SIGNING_SECRET',
  'CORS_ORIGINS',
  'LOG_LEVEL',
] as const;

export type ApiConfig = Config<(typeof API_VARIABLES)[number]>;

export interface ApiServerOptions {
  backend: Backend;
  config: ApiConfig;
  log: Logger;
  /** Serve these on the same port. Without them their paths are unknown here. */
  streams?: Streams | undefined;
  /** Whether the process does what it does beside serving. Default: always. */
  isLive?: () => boolean;
}

/** Make the HTTP server of the API on a backend. */
export function createApiServer({ backend, config, log, streams, isLive = () => true }: ApiServerOptions) {
  const { store, keyRing, addressOf, reportRejectedKey } = backend;
  const sizes = sizesOf(config);
  const { requests } = backend.metrics;
  const redisQueue = new RedisQueue(carriedOutWithinMs(store));
  const serving = createServing({
    ...{ store, keyRing, addressOf, reportRejectedKey, log, sizes, redisQueue, requests },
    maxInFlight: config.MAX_IN_FLIGHT,
    callbackMasters: config.CALLBACK_SIGNING_SECRET ?? [],
    onOverloaded: overloadMetrics(backend.metrics, redisQueue),
  });
  const limits = { sizes, kept: store.settings };
  const app = createApp({ ...serving, health: { backend, isLive }, corsOrigins: config.CORS_ORIGINS, limits });
  const direct = createDirect(ROUTES, serving);
  const server = createExpressServer(app, { ...SERVER_OPTIONS, direct, streams });
  logRequests(server, log);
  return protectServer(server, requests);
}

const sizesOf = (config: ApiConfig): SizeLimits => ({
  bodyBytes: config.MAX_BODY_BYTES,
  payloadBytes: config.MAX_PAYLOAD_BYTES,
  eventBytes: config.MAX_EVENT_BYTES,
  logWireBytes: config.MAX_LOG_WIRE_BYTES,
  logBatchBytes: config.MAX_LOG_BATCH_BYTES,
  logEntryBytes: config.MAX_LOG_ENTRY_BYTES,
  logEntries: config.MAX_LOG_ENTRIES,
});

/**
 * Make the HTTP API as a process of its own.
 *
 * `start` throws a ConfigError when nobody could ever authenticate: no ADMIN_API_KEY and no keys.
 */
export function createApi(config: ApiConfig & { REDIS_URL: string }, log: Logger): Front {
  const backend = createBackend(config, log, { refuseWithoutKeys: true, keyBelievedMs: KEY_BELIEVED_MS });
  const server = createApiServer({ backend, config, log });
  return createFront({ name: 'api', backend, server, config, log });
}
