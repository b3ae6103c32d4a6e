import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { ClusterOptions, RedisOptions } from 'ioredis';
import { parseRedisUrl, RedisUrlError, type TlsFiles } from './url.js';

/** Use of a connection; each handles failures in its own way (docs/decisions/012-no-command-twice.md). */
export type RedisUse = 'commands' | 'subscriber' | 'worker';

/** Reconnect quickly and forever: service must be back within 2 s of Redis' return. */
export const retryStrategy = (attempt: number) => Math.min(attempt * 50, 500);

/**
 * Whether Redis refuses the database of the address. ioredis would continue in database 0, which may belong to another
 * installation. A node of a cluster has no other database; that is reported when the process starts.
 */
const refusesDatabase = (error: Error & { command?: { name: string } }) =>
  error.command?.name === 'select' && !/cluster mode/.test(error.message);

const COMMON: RedisOptions = {
  lazyConnect: true,
  retryStrategy,
  // ioredis ignores the replies to the commands with which it introduces itself. A Redis that accepts no client (protected
  // mode, `maxclients`) replies to the first command of a connection and closes it, so the reason would be lost.
  disableClientInfo: true,
  connectTimeout: 2_000,
  keepAlive: 10_000,
  // How long a closing socket may linger; its timer also keeps the process from ending.
  disconnectTimeout: 100,
  // While Redis loads its data, ask again this soon, and not when Redis estimates, early on, that it will be done.
  maxLoadingRetryTime: 500,
  // A failed-over primary replies READONLY on the old connection forever.
  // Redis 6.2 wraps the reply to a script's command: `ERR Error running script …: -READONLY …`.
  reconnectOnError: (error) => /(^|: -)READONLY\b/.test(error.message) || refusesDatabase(error),
};

const CLUSTER_COMMON: ClusterOptions = {
  lazyConnect: true,
  clusterRetryStrategy: retryStrategy,
  slotsRefreshTimeout: 2_000,
  // Names stay names, because a certificate is for a name.
  dnsLookup: (name, callback) => callback(null, name),
};

/** How a connection to one Redis behaves. */
export const BY_USE: Record<RedisUse, RedisOptions> = {
  commands: {
    ...COMMON,
    // By default ioredis sends a command again when the connection breaks before its reply: two claims, one response.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // While there is no connection, a caller gets its 503 at once, and nothing piles up in memory.
    enableOfflineQueue: false,
    // `commandTimeout` is REDIS_TIMEOUT_SECONDS.
    // ioredis' socketTimeout is not used: its timer outlives the socket it was set for and then cuts the next one.
    // `keepAlive` finds half-open connections instead.
  },
  // The subscribing code subscribes again at each `ready`. ioredis drops the promise of its own attempt: without a
  // reply in time, the unhandled rejection ends the process. It must not send its earlier commands again either.
  subscriber: {
    ...COMMON,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    autoResubscribe: false,
  },
  // BullMQ requires this: its workers wait through an outage. BullMQ tolerates commands that are sent twice; calls that
  // must not happen twice use a connection for commands. BullMQ also gives up for good on a connection whose first
  // attempt fails, unless that attempt is under way when BullMQ gets the connection.
  worker: { ...COMMON, lazyConnect: false, maxRetriesPerRequest: null },
};

/** How a connection to a cluster behaves, in addition to the options of its connections to each node. */
export const CLUSTER_BY_USE: Record<Exclude<RedisUse, 'subscriber'>, ClusterOptions> = {
  commands: {
    ...CLUSTER_COMMON,
    // 0 means never again: a command that a broken connection left without a reply, or that a failing cluster refused
    // half-way, may have been done. Only a command that a node refused at once, because the slot is another's, is sent
    // again.
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
    throw new RedisUrlError(`names a file that cannot be read: ${(error as Error).message}`);
  }
}

/**
 * Read the files that TLS needs.
 *
 * @throws RedisUrlError when a file cannot be read
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
 * Read each file that a REDIS_URL names, to learn at the start that one cannot be read.
 *
 * @throws RedisUrlError
 */
export function checkFilesOf(url: string): void {
  const { tls } = parseRedisUrl(url);
  if (tls !== null) tlsOf(tls);
}
