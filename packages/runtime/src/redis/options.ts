import type { ClusterOptions, RedisOptions } from 'ioredis';

/** What a connection is for; each use fails in its own way (docs/architecture.md, "Connections"). */
export type RedisUse = 'commands' | 'subscriber' | 'worker';

/** Reconnect quickly and for ever: service must be back within 2 s of Redis' return. */
export const retryStrategy = (attempt: number) => Math.min(attempt * 50, 500);

/**
 * Whether Redis will not have the database of the address. ioredis would go on in database 0, which may be another
 * installation's. A node of a cluster has no other, and is told of when the process starts.
 */
const refusesDatabase = (error: Error & { command?: { name: string } }) =>
  error.command?.name === 'select' && !/cluster mode/.test(error.message);

const COMMON: RedisOptions = {
  lazyConnect: true,
  retryStrategy,
  connectTimeout: 2_000,
  keepAlive: 10_000,
  // How long a closing socket may linger; its timer also keeps the process from ending.
  disconnectTimeout: 100,
  // While Redis loads its data it is asked again so soon, and not when it believes, early on, that it will be done.
  maxLoadingRetryTime: 500,
  // A failed-over primary answers READONLY on the old connection for ever.
  // Redis 6.2 wraps what a script's command got: `ERR Error running script …: -READONLY …`.
  reconnectOnError: (error) => /(^|: -)READONLY\b/.test(error.message) || refusesDatabase(error),
};

const CLUSTER_COMMON: ClusterOptions = {
  lazyConnect: true,
  clusterRetryStrategy: retryStrategy,
  slotsRefreshTimeout: 2_000,
  // Names stay names: a certificate is for a name.
  dnsLookup: (name, callback) => callback(null, name),
};

/** How a connection to one Redis behaves. */
export const BY_USE: Record<RedisUse, RedisOptions> = {
  commands: {
    ...COMMON,
    // By default ioredis sends a command again when the connection breaks before its reply: two claims, one answer.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // While there is no connection a caller gets its 503 at once, and nothing piles up in memory.
    enableOfflineQueue: false,
    // `commandTimeout` is REDIS_TIMEOUT_SECONDS.
    // ioredis' socketTimeout is left off: its timer outlives the socket it was set for and then cuts the next one.
    // `watchConnection` finds half-open connections instead.
  },
  // Whoever subscribes does so again at each `ready`: ioredis drops the promise of its own attempt, and when that
  // is not answered in time the rejection, unhandled, ends the process. Nor may it send again what it sent before.
  subscriber: {
    ...COMMON,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    autoResubscribe: false,
  },
  // BullMQ asks for this: its workers wait through an outage. Its commands may come twice, which it is made for; what
  // must not is done over a connection for commands. It also gives up for good on a connection whose first attempt
  // fails, unless that is under way by the time it is handed over.
  worker: { ...COMMON, lazyConnect: false, maxRetriesPerRequest: null },
};

/** How a connection to a cluster behaves, beside what holds for its connections to each node. */
export const CLUSTER_BY_USE: Record<Exclude<RedisUse, 'subscriber'>, ClusterOptions> = {
  commands: {
    ...CLUSTER_COMMON,
    // 0 means never again: what a broken connection leaves unanswered, or a failing cluster refuses half-way, may
    // have been done. Sent again is only what a node refused to begin with because the slot is another's.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    maxRedirections: 4,
  },
  worker: { ...CLUSTER_COMMON, lazyConnect: false },
};
