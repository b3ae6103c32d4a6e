import type { IncomingMessage } from 'node:http';
import { onceReachable, placeOf, type SharedSubscriptions, shareSubscriptions } from '@yardmaster/redis';
import { type Config, ConfigError, compose, every, type Logger, type Service, watchSecret } from '@yardmaster/runtime';
import {
  Authenticator,
  countedBy,
  createStore,
  hasKeys,
  prepareRedis,
  SpaceHistoryCounter,
  type Store,
} from '@yardmaster/store';
import { Audit } from './audit.js';
import { createRejectedKeyReport, type KeyCheck } from './authorize.js';
import { createConnections } from './connections.js';
import { createHistoryFlush } from './history-flush.js';
import { clientAddressBy } from './http/exchange.js';
import { countedSubscriptions } from './metrics/redis.js';
import { createMetrics, type Metrics } from './metrics/registry.js';
import { createRedisSettingsWatch } from './redis-settings-watch.js';
import { watchSpaceSettings } from './space-settings-watch.js';

/** Time between two records of API key uses. With the API's cache of 4.5 s, `lastUsedAt` is at most 60 s behind. */
const RECORD_USES_MS = 55_000;

/** Time between two reads of the files of secrets. */
const READ_SECRETS_MS = 60_000;

/** Variables that the server context reads. */
export const SERVER_CONTEXT_VARIABLES = [
  'REDIS_URL',
  'REDIS_TIMEOUT_SECONDS',
  'ADMIN_API_KEY',
  'ADMIN_API_KEY_FILE',
  'KEY_PREFIX',
  'DELIVERY_TIMEOUT_SECONDS',
  'MAX_DELIVERIES',
  'COMPAT',
  'RETENTION_SECONDS',
  'EVENTS_PER_JOB',
  'EVENT_BYTES_PER_JOB',
  'LOGS_PER_JOB',
  'KEYS_PER_SPACE',
  'SCHEDULES_PER_SPACE',
  'LOG_BYTES_PER_JOB',
  'TRUSTED_PROXIES',
  'ALLOW_EVICTION',
] as const;

/** Variables that the server context reads in processes that sign callbacks or show the secrets for receivers. */
export const CALLBACK_SECRET_VARIABLES = ['CALLBACK_SIGNING_SECRET', 'CALLBACK_SIGNING_SECRET_FILE'] as const;

export type ServerContextConfig = Config<(typeof SERVER_CONTEXT_VARIABLES)[number]> &
  Partial<Config<(typeof CALLBACK_SECRET_VARIABLES)[number] | 'DURABILITY'>> & { REDIS_URL: string };

export interface ServerContextOptions {
  /** Whether to refuse to start if no client could ever authenticate: no ADMIN_API_KEY and no keys. Default false. */
  refuseWithoutKeys?: boolean;
  /** How long a cached key is trusted without a message about its revocation, milliseconds. Default: that of the store. */
  keyCacheMs?: number;
  /** Time between two checks of Redis's settings, milliseconds. Default 2,000. */
  checkRedisEveryMs?: number;
  /** Time between two reads of the files of secrets, milliseconds. Default 60,000. */
  readSecretsEveryMs?: number;
  /** Whether calls of this process need the settings of spaces, which scripts read on their own. Default true. */
  watchesSettings?: boolean;
  /** Whether jobs follow a manually advanced clock. Requires a private Redis. Default false. */
  isClockManual?: boolean;
}

/** A process's connections to Redis with its store, metrics and authenticator, shared by all its services. */
export interface ServerContext extends Service, KeyCheck {
  store: Store;
  /** Whether COMPAT=emit is set, for clients of emit.run. */
  isEmit: boolean;
  subscriptions: SharedSubscriptions;
  /** Return the master secrets for signing callbacks, newest first; empty if callbacks are not signed. */
  callbackMasters(): readonly Buffer[];
  /** Return the address of a request's client, behind trusted proxies. */
  addressOf(req: IncomingMessage): string;
  audit: Audit;
  /** Metrics that the process serves at /metrics. */
  metrics: Metrics;
  /** Aborted when the process is shutting down: it is no longer ready and starts nothing new. */
  stopping: AbortSignal;
  /** Announce the shutdown by aborting `stopping`; `stop` then releases the connections. */
  announceStop(): void;
  /** Check that the process can do its work: Redis is checked and replies, and published messages are received. */
  isReady(): Promise<boolean>;
}

/**
 * Create a server context. `start` waits until Redis is reachable, checks it, and throws a ConfigError if it cannot be
 * used.
 */
export function createServerContext(
  config: ServerContextConfig,
  log: Logger,
  options: ServerContextOptions = {},
): ServerContext {
  const redisTimeoutMs = Math.ceil(config.REDIS_TIMEOUT_SECONDS * 1000);
  const connections = createConnections(config.REDIS_URL, log, {
    commandTimeoutMs: redisTimeoutMs,
    areWritesReplicated: config.DURABILITY === 'replicated',
  });
  const metrics = createMetrics();
  const subscriptions = shareSubscriptions(countedSubscriptions(connections.subscriptions, metrics.registry));
  for (const [use, isConnected] of Object.entries(connections.states)) metrics.connected(use, isConnected);
  const settings = {
    keyPrefix: config.KEY_PREFIX,
    // Round up to whole milliseconds, so that a window never ends early. 0 means the job's own timeout.
    deliveryTimeoutMs: config.COMPAT === 'emit' ? 0 : Math.ceil(config.DELIVERY_TIMEOUT_SECONDS * 1000),
    maxDeliveries: config.MAX_DELIVERIES,
    retentionMs: Math.ceil(config.RETENTION_SECONDS * 1000),
    eventsPerJob: config.EVENTS_PER_JOB,
    eventBytesPerJob: config.EVENT_BYTES_PER_JOB,
    logsPerJob: config.LOGS_PER_JOB,
    keysPerSpace: config.KEYS_PER_SPACE,
    schedulesPerSpace: config.SCHEDULES_PER_SPACE,
    logBytesPerJob: config.LOG_BYTES_PER_JOB,
    redisTimeoutMs,
    isClockManual: options.isClockManual === true,
  };
  const { redis, bulk, replicated, clock } = connections;
  const counter = new SpaceHistoryCounter();
  const observer = countedBy(counter, metrics.observer);
  const store = createStore(redis, settings, { bulk, replicated, clock, observer });
  const authenticator = new Authenticator(store, {
    adminKey: config.ADMIN_API_KEY,
    ...(options.keyCacheMs !== undefined && { cacheMs: options.keyCacheMs }),
  });
  const addressOf = clientAddressBy(config.TRUSTED_PROXIES ?? []);
  const reportRejectedKey = createRejectedKeyReport(metrics.registry);
  const audit = new Audit({ store, log, authenticator, addressOf });
  const settingsWatch = createRedisSettingsWatch({
    store,
    log,
    registry: metrics.registry,
    allowEviction: config.ALLOW_EVICTION,
    everyMs: options.checkRedisEveryMs,
  });
  const stopping = new AbortController();
  let isPrepared = false;
  let callbackMasters: readonly Buffer[] = config.CALLBACK_SIGNING_SECRET ?? [];
  const { readSecretsEveryMs: everyMs = READ_SECRETS_MS } = options;
  const secrets = [
    watchSecret({
      ...{ name: 'ADMIN_API_KEY', file: config.ADMIN_API_KEY_FILE, value: config.ADMIN_API_KEY, log, everyMs },
      onChange: (key) => authenticator.replaceAdminKey(key),
    }),
    watchSecret({
      ...{ name: 'CALLBACK_SIGNING_SECRET', file: config.CALLBACK_SIGNING_SECRET_FILE, log, everyMs },
      value: config.CALLBACK_SIGNING_SECRET,
      onChange: (masters) => {
        callbackMasters = masters;
      },
    }),
  ];

  /** Record when keys were used. If this fails, the uses are lost; the next use is recorded again. */
  async function recordUses(): Promise<void> {
    try {
      await authenticator.recordUses();
    } catch (err) {
      log.debug({ err }, 'use of API keys not recorded');
    }
  }

  async function checkRedis(): Promise<void> {
    await prepareRedis(store);
    await settingsWatch.check();
    if (options.refuseWithoutKeys && config.ADMIN_API_KEY === undefined && !(await hasKeys(store))) {
      throw new ConfigError([
        'ADMIN_API_KEY is required: no API key exists yet, and without it no client could create one',
      ]);
    }
  }

  const prepared: Service = {
    name: 'checked redis',
    async start() {
      const isListening = authenticator.listen(subscriptions);
      await onceReachable(checkRedis, {
        reasonOf: connections.reasonOf,
        onWait: (reason, seconds) =>
          log.warn({ address: placeOf(config.REDIS_URL), reason, seconds }, 'waiting for redis'),
        signal: stopping.signal,
      });
      await isListening;
    },
    stop: async () => undefined,
  };
  const repeated = [
    ...(options.watchesSettings === false ? [] : [watchSpaceSettings(store, subscriptions)]),
    settingsWatch,
    ...secrets,
    audit,
    every({ name: 'key uses', ms: RECORD_USES_MS, run: recordUses, atStop: recordUses }),
    createHistoryFlush(store, counter, log),
  ];
  const services = compose('server context', [[connections], [prepared], repeated]);

  return {
    name: 'server context',
    store,
    isEmit: config.COMPAT === 'emit',
    authenticator,
    subscriptions,
    callbackMasters: () => callbackMasters,
    metrics,
    addressOf,
    audit,
    reportRejectedKey,
    stopping: stopping.signal,
    announceStop: () => stopping.abort(),
    async isReady() {
      return isPrepared && !stopping.signal.aborted && connections.areReady();
    },
    async start() {
      await services.start();
      isPrepared = true;
    },
    stop(withinMs) {
      stopping.abort();
      return services.stop(withinMs);
    },
  };
}
