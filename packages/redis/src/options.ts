import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { ClusterOptions, RedisOptions } from 'ioredis';
import { parseRedisUrl, RedisUrlError, type TlsFiles } from './url.js';

/** Use of a connection. Each use handles failures in its own way (docs/decisions/012-no-command-twice.md). */
export type RedisUse = 'commands' | 'subscriber' | 'worker';

/** Reconnect quickly and forever: service must resume within 2 s after Redis becomes available. */
export const retryStrategy = (attempt: number) => Math.min(attempt * 50, 500);

/**
 * Return whether Redis refuses the database of the URL. ioredis would continue in database 0, which may belong to another
 * installation. A cluster node has no other database, which is reported when the process starts.
 */
const refusesDatabase = (error: Error & { command?: { name: string } }) =>
  error.command?.name === 'select' && !/cluster mode/.test(error.message);

const COMMON: RedisOptions = {
  lazyConnect: true,
  retryStrategy,
  // ioredis ignores the replies to the commands that introduce it. A Redis that accepts no clients (protected mode,
  // `maxclients`) replies to the first command and closes the connection, so the reason would be lost.
  disableClientInfo: true,
  connectTimeout: 2_000,
  keepAlive: 10_000,
  // How long a closing socket may linger. Its timer also keeps the process alive.
  disconnectTimeout: 100,
  // While Redis is loading its data, check again this soon, instead of when Redis initially estimates to be done.
  maxLoadingRetryTime: 500,
  // After a failover, the old primary replies READONLY forever on the existing connection.
  // Redis 6.2 wraps the reply to a script's command: `ERR Error running script …: -READONLY …`.
  reconnectOnError: (error) => /(^|: -)READONLY\b/.test(error.message) || refusesDatabase(error),
};

const CLUSTER_COMMON: ClusterOptions = {
  lazyConnect: true,
  clusterRetryStrategy: retryStrategy,
  slotsRefreshTimeout: 2_000,
  // Don't resolve names, because certificates are issued for names.
  dnsLookup: (name, callback) => callback(null, name),
};

/** Options of a connection to a single Redis, by use. */
export const BY_USE: Record<RedisUse, RedisOptions> = {
  commands: {
    ...COMMON,
    // By default, ioredis resends a command if the connection breaks before its reply: two claims, one response.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // Without a connection, callers get a 503 immediately, and nothing piles up in memory.
    enableOfflineQueue: false,
    // `commandTimeout` is REDIS_TIMEOUT_SECONDS.
    // Not ioredis's socketTimeout: its timer outlives the socket it was set for, and then closes the next one. `keepAlive`
    // finds half-open connections instead.
  },
  // The subscribing code resubscribes at each `ready`. ioredis drops the promise of its own attempt: without a reply in time,
  // the unhandled rejection crashes the process. It must not resend earlier commands either.
  subscriber: {
    ...COMMON,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    autoResubscribe: false,
  },
  // BullMQ requires this, because its workers wait through outages. BullMQ tolerates commands that are sent twice; calls that
  // must not happen twice use a connection for commands. BullMQ also gives up for good on a connection whose first attempt
  // fails, unless that attempt is already in progress when BullMQ gets the connection.
  worker: { ...COMMON, lazyConnect: false, maxRetriesPerRequest: null },
};

/** Options of a cluster client, by use, in addition to those of its connections to nodes. */
export const CLUSTER_BY_USE: Record<Exclude<RedisUse, 'subscriber'>, ClusterOptions> = {
  commands: {
    ...CLUSTER_COMMON,
    // 0 means never retry: a command without a reply because the connection broke, or that a failing cluster refused partway,
    // may have been carried out. Only a command that a node refused outright, because another node has the slot, is resent.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    maxRedirections: 4,
  },
  worker: { ...CLUSTER_COMMON, lazyConnect: false },
};

function readPem(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new RedisUrlError(`refers to a file that cannot be read: ${(error as Error).message}`);
  }
}

/**
 * Read the files for TLS.
 *
 * @throws RedisUrlError if a file can't be read
 */
export function tlsOf({ ca, cert, key, servername }: TlsFiles): ConnectionOptions {
  return {
    ...(ca !== undefined && { ca: readPem(ca) }),
    ...(cert !== undefined && { cert: readPem(cert) }),
    ...(key !== undefined && { key: readPem(key) }),
    ...(servername !== undefined && { servername }),
  };
}

/**
 * Read each file that a REDIS_URL refers to, to detect at startup that one can't be read.
 *
 * @throws RedisUrlError
 */
export function checkFilesOf(url: string): void {
  const { tls } = parseRedisUrl(url);
  if (tls !== null) tlsOf(tls);
}
