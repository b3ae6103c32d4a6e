import type { Config, Logger } from '@yardmaster/runtime';
import {
  CALLBACK_SECRET_VARIABLES,
  createHttpService,
  createServerContext,
  HTTP_SERVICE_VARIABLES,
  type HttpService,
  overloadMetrics,
  protectServer,
  redisBudgetMs,
  SERVER_CONTEXT_VARIABLES,
  SERVER_OPTIONS,
  type ServerContext,
  type Streams,
} from '@yardmaster/server';
import { carriedOutWithinMs } from '@yardmaster/store';
import { createApp, createHttpServer, endpointsOf } from './app.js';
import type { SizeLimits } from './call.js';
import { createDispatcher, logRequests } from './dispatch.js';
import { inGroups } from './limits/group-commit.js';
import { RedisQueue } from './limits/redis-queue.js';
import { ROUTES } from './routes/index.js';
import { TEST_CLOCK } from './routes/test-clock.js';
import { readSite } from './ui/site.js';
import { createLongPolling } from './waiting/long-polling.js';

/**
 * How long the API trusts a cached key, milliseconds. A revoked key must stop working within 5 s, even if the announcement
 * of its revocation was lost. Longer than the store's default, which streams need, because a thousand workers, each with
 * its own key, may poll once a second.
 */
const KEY_CACHE_MS = 4_500;

/** Variables that the API reads. */
export const API_VARIABLES = [
  ...SERVER_CONTEXT_VARIABLES,
  ...CALLBACK_SECRET_VARIABLES,
  ...HTTP_SERVICE_VARIABLES,
  'MAX_IN_FLIGHT',
  'WAITERS_PER_PROCESS',
  'DURABILITY',
  'MAX_BODY_BYTES',
  'MAX_BATCH_BYTES',
  'MAX_PAYLOAD_BYTES',
  'MAX_EVENT_BYTES',
  'MAX_LOG_ENTRIES',
  'MAX_LOG_BATCH_BYTES',
  'MAX_LOG_WIRE_BYTES',
  'MAX_LOG_ENTRY_BYTES',
  'CORS_ORIGINS',
  'UI',
  'LOG_LEVEL',
] as const;

export type ApiConfig = Config<(typeof API_VARIABLES)[number]>;

export interface ApiServerOptions {
  context: ServerContext;
  config: ApiConfig;
  log: Logger;
  /** Streams on the same port. Without them, their paths are unknown. */
  streams?: Streams | undefined;
  /** Returns whether the background work of the process is alive. Default: always true. */
  isLive?: () => boolean;
}

/**
 * Create the HTTP server of the API on a server context.
 *
 * @throws ConfigError if UI is true but the dashboard is not built
 */
export function createApiServer({ context, config, log, streams, isLive = () => true }: ApiServerOptions) {
  const { authenticator, addressOf, audit, reportRejectedKey, isEmit, subscriptions, stopping } = context;
  const store = inGroups(context.store);
  const sizes = sizesOf(config);
  const { requests } = context.metrics;
  const redisQueue = new RedisQueue(carriedOutWithinMs(store));
  const waiting = createLongPolling({
    ...{ keys: store.keys, subscriptions, requests, stopping, max: config.WAITERS_PER_PROCESS },
    atRedis: (work) =>
      redisQueue.withSlot({ isUrgent: false, tenant: '', withinMs: redisBudgetMs(store), run: () => work(store) }),
  });
  const { serve, respondWithError } = createDispatcher({
    ...{ store, authenticator, addressOf, audit, reportRejectedKey, isEmit, log, sizes, redisQueue, waiting, requests },
    maxInFlight: config.MAX_IN_FLIGHT,
    callbackMasters: context.callbackMasters,
    onOverloaded: overloadMetrics(context.metrics, redisQueue, waiting.waits),
  });
  const limits = { sizes, kept: store.settings };
  const routes = store.settings.isClockManual ? [...ROUTES, TEST_CLOCK] : ROUTES;
  const site = config.UI ? readSite() : [];
  const endpoints = endpointsOf({ routes, serve, health: { context, isLive }, limits, site });
  const app = createApp({ endpoints, respondWithError, corsOrigins: config.CORS_ORIGINS, streams });
  const server = createHttpServer(app, { ...SERVER_OPTIONS, streams });
  logRequests(server, log);
  return protectServer(server, requests);
}

const sizesOf = (config: ApiConfig): SizeLimits => ({
  bodyBytes: config.MAX_BODY_BYTES,
  batchBytes: config.MAX_BATCH_BYTES,
  payloadBytes: config.MAX_PAYLOAD_BYTES,
  eventBytes: config.MAX_EVENT_BYTES,
  logWireBytes: config.MAX_LOG_WIRE_BYTES,
  logBatchBytes: config.MAX_LOG_BATCH_BYTES,
  logEntryBytes: config.MAX_LOG_ENTRY_BYTES,
  logEntries: config.MAX_LOG_ENTRIES,
});

/**
 * Create the HTTP API as a separate process.
 *
 * `start` throws a ConfigError if no client could ever authenticate, because there is neither ADMIN_API_KEY nor a key.
 */
export function createApi(config: ApiConfig & { REDIS_URL: string }, log: Logger): HttpService {
  const context = createServerContext(config, log, { refuseWithoutKeys: true, keyCacheMs: KEY_CACHE_MS });
  const server = createApiServer({ context, config, log });
  return createHttpService({ name: 'api', context, server, config, log });
}
