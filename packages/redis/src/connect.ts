import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { RedisClient } from './client.js';
import { drainLeavingNodes, FailFastCluster } from './cluster.js';
import { corkCommands, useScriptCommands } from './fast.js';
import { BY_USE, CLUSTER_BY_USE, type RedisUse, retryStrategy, tlsOf } from './options.js';
import { parseRedisUrl, type RedisAddress } from './url.js';

/** The methods of a logger that this package needs, so that it doesn't depend on one. */
export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A subscriber connects to one Redis. */
type ClientFor<U extends RedisUse> = U extends 'subscriber' ? Redis : RedisClient;

/** Default timeout of a command, milliseconds. */
const COMMAND_TIMEOUT_MS = 1_500;

/**
 * Create a client. It connects when `connect` is called (a worker's connects immediately), and reconnects forever.
 *
 * To subscribe in a cluster, use `createNodeSubscriber`, because each channel there belongs to one node.
 *
 * @param url REDIS_URL
 * @param commandTimeoutMs timeout of a command, for clients that send commands
 * @throws RedisUrlError if a file that the URL names can't be read
 */
export function createRedis<U extends RedisUse>(
  url: string,
  use: U,
  log: Logger,
  commandTimeoutMs = COMMAND_TIMEOUT_MS,
): ClientFor<U> {
  const address = parseRedisUrl(url);
  const options = use === 'commands' ? { ...BY_USE[use], commandTimeout: commandTimeoutMs } : BY_USE[use];
  const client =
    address.kind === 'cluster' && use !== 'subscriber' ? cluster(address, use, options) : single(address, options);
  if (use === 'commands') {
    corkCommands(client);
    useScriptCommands(client);
  }
  logOutages(client, use, log);
  if (client instanceof Cluster) {
    logNodeOutages(client, use, log);
    if (use === 'commands') drainLeavingNodes(client);
  }
  return client as ClientFor<U>;
}

/** Create a connection for subscribing to the channels of a cluster node. */
export function createNodeSubscriber(node: Redis, log: Logger): Redis {
  const redis = node.duplicate({ ...BY_USE.subscriber, readOnly: false });
  logOutages(redis, 'subscriber', log);
  return redis;
}

const loginOf = ({ username, password, tls }: RedisAddress): RedisOptions => ({
  ...(username !== undefined && { username }),
  ...(password !== undefined && { password }),
  ...(tls !== null && { tls: tlsOf(tls) }),
});

function cluster(
  address: RedisAddress & { kind: 'cluster' },
  use: Exclude<RedisUse, 'subscriber'>,
  options: RedisOptions,
): Cluster {
  const redisOptions = { ...options, ...loginOf(address) };
  const Client = use === 'commands' ? FailFastCluster : Cluster;
  return new Client(address.nodes, { ...CLUSTER_BY_USE[use], redisOptions });
}

function single(address: RedisAddress, ofUse: RedisOptions): Redis {
  const options = { ...ofUse, ...loginOf(address) };
  if (address.kind === 'socket') return new Redis(address.path, options);
  if (address.kind === 'single') return new Redis({ ...options, ...address.node, db: address.db });
  if (address.kind === 'cluster') throw new Error('a subscriber to a cluster must connect to one of its nodes');
  const { username, password } = address.sentinel;
  const mayBeReplaced = replacementCheck();
  return new Redis({
    ...options,
    db: address.db,
    sentinels: address.nodes,
    name: address.name,
    ...(username !== undefined && { sentinelUsername: username }),
    ...(password !== undefined && { sentinelPassword: password }),
    ...(options.tls && { sentinelTLS: options.tls, enableTLSForSentinelMode: true }),
    sentinelRetryStrategy: retryStrategy,
    sentinelCommandTimeout: 1_000,
    // A primary that is cut off from its replicas refuses writes (min-replicas-to-write). It may have been replaced, which the
    // Sentinels know. Not ioredis's failoverDetector, which leaks its connections to the Sentinels at each reconnect. After a
    // failover, all of those would terminate the connection for good while it is being opened.
    reconnectOnError: (error) => mayBeReplaced(error) || (ofUse.reconnectOnError?.(error) ?? false),
  });
}

/**
 * Minimum time between two reconnects because of NOREPLICAS, milliseconds. A primary whose replicas are merely down also
 * reports it, and not every failing call must close the connection. But the time is short, because Sentinels may replace a
 * primary that they have just promoted, and service must resume within 2 s.
 */
const RECONNECT_AGAIN_MS = 1_500;

/** Create a function that returns true if an error indicates that the primary may have been replaced, but not too often. */
function replacementCheck(): (error: Error) => boolean {
  let reconnectedAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (!/(^|: -)NOREPLICAS\b/.test(error.message) || performance.now() - reconnectedAt < RECONNECT_AGAIN_MS)
      return false;
    reconnectedAt = performance.now();
    return true;
  };
}

/** Log one line per change, not per attempt, so that an outage doesn't fill the disk. */
function logOutages(client: RedisClient, use: RedisUse, log: Logger): void {
  let isHealthy = true;
  client.on('error', (err) => {
    if (isHealthy) log.error({ err, use }, 'redis connection lost');
    isHealthy = false;
  });
  client.on('ready', () => {
    if (!isHealthy) log.info({ use }, 'redis connection restored');
    isHealthy = true;
  });
}

/** Log an unavailable node at most once a minute, because every call for its slots tries to reconnect. */
function logNodeOutages(client: Cluster, use: RedisUse, log: Logger): void {
  const loggedAt = new Map<string, number>();
  client.on('node error', (err: Error, node: string) => {
    if (performance.now() - (loggedAt.get(node) ?? Number.NEGATIVE_INFINITY) < 60_000) return;
    loggedAt.set(node, performance.now());
    log.warn({ err, node, use }, 'redis node unavailable');
  });
}
