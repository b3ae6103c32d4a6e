import { Cluster, type Redis } from 'ioredis';
import type { RedisClient } from './client.js';
import type { RedisClock } from './clock.js';

/** Timeout for a pong, milliseconds. Longer than for a command, because a long reply may precede it. */
const PONG_MS = 3_000;

/** How long Redis may be silent on a new connection, milliseconds: as long as connecting may take. */
const GREETING_MS = 2_000;

async function respondsToPing(redis: Redis, clock: RedisClock | undefined): Promise<boolean> {
  const ping = () => (clock ? learnTime(redis, clock) : redis.ping());
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, PONG_MS, false).unref();
  });
  // The command's own timeout is shorter, so ping again within the deadline. Any other error leads to `close`.
  const pingAgain = async (error: Error) => error.message !== 'Command timed out' || succeeds(ping());
  const isAlive = await Promise.race([ping().then(() => true, pingAgain), late]);
  clearTimeout(timer);
  return isAlive;
}

/** Return whether a promise resolves. */
const succeeds = (promise: Promise<unknown>) =>
  promise.then(
    () => true,
    () => false,
  );

async function learnTime(redis: Redis, clock: RedisClock): Promise<void> {
  const sentAt = performance.now();
  const [seconds, micros] = await redis.time();
  const epochMs = Number(seconds) * 1000 + Number(micros) / 1000;
  clock.learn(redis, { epochMs, sentAt, receivedAt: performance.now() });
}

/** Return every connection of a client. Each is checked separately. */
const connectionsOf = (client: RedisClient) => (client instanceof Cluster ? client.nodes() : [client]);

/** Time between two checks of connections, milliseconds. */
export const CHECK_CONNECTIONS_MS = 1_000;

export interface ConnectionCheckOptions {
  /**
   * Whether the connection runs blocking commands. A ping would wait behind them, and other code handles their end, so only
   * the opening of the connection is checked. Default false.
   */
  isBlocking?: boolean;
  /** Clock to set from the connection, which is then sent TIME instead of a ping. */
  clock?: RedisClock;
}

/**
 * Checks connections whenever `run` is called, which should be once a second. Pings each connection and replaces it if there
 * is no pong. A half-open connection never recovers on its own, and pub/sub silently loses messages on it. A connection can
 * also be half-open from the start, if a proxy in front of an unavailable Redis accepts it. ioredis then considers itself
 * connected, and its first commands have no deadline unless commands in general have one.
 */
export class ConnectionChecks {
  readonly #clients = new Map<RedisClient, ConnectionCheckOptions>();
  readonly #inCheck = new WeakSet<Redis>();

  add(client: RedisClient, options: ConnectionCheckOptions = {}): void {
    this.#clients.set(client, options);
  }

  delete(client: RedisClient): void {
    this.#clients.delete(client);
  }

  readonly run = (): void => {
    for (const [client, options] of this.#clients)
      for (const redis of connectionsOf(client)) this.#check(redis, options);
  };

  #check(redis: Redis, { isBlocking = false, clock }: ConnectionCheckOptions): void {
    const check = CHECKS[redis.status];
    if (this.#inCheck.has(redis) || check === undefined || (isBlocking && check !== reconnectIfSilent)) return;
    this.#inCheck.add(redis);
    void check(redis, clock).finally(() => this.#inCheck.delete(redis));
  }
}

/**
 * Checks of a connection by its status. At `connect`, Redis has not replied properly yet; at `end`, ioredis has given up on
 * the connection. Code that closes a connection must first stop its checks.
 */
const CHECKS: Partial<Record<Redis['status'], (redis: Redis, clock?: RedisClock) => Promise<void>>> = {
  ready: reconnectIfDead,
  connect: reconnectIfSilent,
  end: connectAgain,
};

/** Reconnect. ioredis gives up for good if it is told to reconnect while it is asking Sentinels for the primary. */
async function connectAgain(redis: Redis): Promise<void> {
  await redis.connect().catch(() => undefined); // The next check sees whether it succeeded.
}

/** Reconnect if Redis sends nothing. A Redis that is loading its data still replies; a silent one is unavailable. */
async function reconnectIfSilent(redis: Redis): Promise<void> {
  const { stream } = redis;
  const { bytesRead } = stream;
  await new Promise((resolve) => setTimeout(resolve, GREETING_MS).unref());
  if (redis.status === 'connect' && redis.stream === stream && stream.bytesRead === bytesRead) redis.disconnect(true);
}

async function reconnectIfDead(redis: Redis, clock?: RedisClock): Promise<void> {
  const { stream } = redis;
  // Close only the socket that was pinged, because it may have been replaced since. In a cluster, the connection to the node
  // is dropped, and the cluster client opens another.
  if (!(await respondsToPing(redis, clock)) && redis.stream === stream) redis.disconnect(true);
}

/**
 * Return whether Redis serves; in a cluster, whether any primary does. While one fails over, the others serve their spaces,
 * unless `cluster-require-full-coverage` makes them refuse as well.
 */
export async function responds(client: RedisClient): Promise<boolean> {
  const checks = client instanceof Cluster ? client.nodes('master').map(servesSlots) : [client.ping()];
  return succeeds(Promise.any(checks));
}

async function servesSlots(redis: Redis): Promise<void> {
  if (!String(await redis.cluster('INFO')).includes('cluster_state:ok')) throw new Error('CLUSTERDOWN');
}
