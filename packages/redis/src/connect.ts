import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { RedisClient } from './client.js';
import { drainLeavingNodes, FailFastCluster } from './cluster.js';
import { corkCommands, useScriptCommands } from './fast.js';
import { BY_USE, CLUSTER_BY_USE, type RedisUse, retryStrategy, tlsOf } from './options.js';
import { parseRedisUrl, type RedisAddress } from './url.js';

/** The methods that this package needs of a logger, so that it does not depend on one. */
export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A subscriber connects to one Redis. */
type ClientFor<U extends RedisUse> = U extends 'subscriber' ? Redis : RedisClient;

/** How long one command may take unless `createRedis` is given another limit, milliseconds. */
const COMMAND_TIMEOUT_MS = 1_500;

/**
 * Create a connection. It connects when `connect` is called, one for a worker at once, and it reconnects forever.
 *
 * For a subscriber to a cluster use `createNodeSubscriber`, because each channel there belongs to one node.
 *
 * @param url as REDIS_URL
 * @param commandTimeoutMs how long one command may take, on a connection for commands
 * @throws RedisUrlError when a file that it names cannot be read
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

/** Create a connection that subscribes to channels of one node of a cluster. */
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
    // A primary that is cut off from its replicas refuses to write (min-replicas-to-write). It may have been replaced,
    // and the Sentinels know that. ioredis' failoverDetector is not used. It leaks its connections to the Sentinels at
    // each reconnection. After a failover, all of those end the connection for good, just while it is made.
    reconnectOnError: (error) => mayBeReplaced(error) || (ofUse.reconnectOnError?.(error) ?? false),
  });
}

/**
 * Minimum time between two reconnections because of NOREPLICAS, milliseconds. A primary whose replicas are merely down
 * also reports it, and other calls are under way, so not each of them may end the connection. But the time is short:
 * Sentinels may replace a primary that they have just made, and service must be back within 2 s of that.
 */
const RECONNECT_AGAIN_MS = 1_500;

/**
 * Create a function that returns true when an error shows that the primary may have been replaced, but not too often.
 */
function replacementCheck(): (error: Error) => boolean {
  let reconnectedAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (!/(^|: -)NOREPLICAS\b/.test(error.message) || performance.now() - reconnectedAt < RECONNECT_AGAIN_MS)
      return false;
    reconnectedAt = performance.now();
    return true;
  };
}

/** Log one line per change, not per attempt, because an outage must not fill the disk. */
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

/** Log an unavailable node at most once a minute, because each call for its slots tries to connect again. */
function logNodeOutages(client: Cluster, use: RedisUse, log: Logger): void {
  const loggedAt = new Map<string, number>();
  client.on('node error', (err: Error, node: string) => {
    if (performance.now() - (loggedAt.get(node) ?? Number.NEGATIVE_INFINITY) < 60_000) return;
    loggedAt.set(node, performance.now());
    log.warn({ err, node, use }, 'redis node unavailable');
  });
}
