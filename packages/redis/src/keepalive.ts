import { Cluster, type Redis } from 'ioredis';
import type { RedisClient } from './client.js';
import type { RedisClock } from './clock.js';

/** How long a pong may take, milliseconds: longer than a command, because a long reply may come before it. */
const PONG_MS = 3_000;

/** How long Redis may send nothing on a new connection, milliseconds: as long as connecting may take. */
const GREETING_MS = 2_000;

async function respondsToPing(redis: Redis, clock: RedisClock | undefined): Promise<boolean> {
  const ping = () => (clock ? learnTime(redis, clock) : redis.ping());
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, PONG_MS, false).unref();
  });
  // The command's own timeout is shorter, so ping again within the deadline. Any other error ends in `close`.
  const pingAgain = async (error: Error) => error.message !== 'Command timed out' || succeeds(ping());
  const isAlive = await Promise.race([ping().then(() => true, pingAgain), late]);
  clearTimeout(timer);
  return isAlive;
}

/** Whether a promise resolves. */
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

/** Return every connection of a client; each is checked on its own. */
const connectionsOf = (client: RedisClient) => (client instanceof Cluster ? client.nodes() : [client]);

/** Time between two checks of connections, milliseconds. */
export const CHECK_CONNECTIONS_MS = 1_000;

export interface ConnectionCheckOptions {
  /**
   * Whether the connection waits in commands that block. A ping would wait behind them, and other code ends them: so
   * only the beginning of the connection is checked. Default false.
   */
  isBlocking?: boolean;
  /** Learns Redis' time: the connection is sent TIME instead of a ping. */
  clock?: RedisClock;
}

/**
 * Checks connections, each time that `run` is called: once a second. It pings each of them, and makes a new one when no
 * pong comes. A half-open connection never recovers on its own, and pub/sub loses messages without an error. A connection
 * may also be half-open from its beginning, accepted by a proxy in front of a Redis that is away. Then ioredis connects
 * within its `connectTimeout`, and its first commands have no deadline unless commands have one.
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
 * Check of a connection, by its status: at `connect` Redis has not replied as it should yet, at `end` ioredis has given
 * the connection up. Code that ends a connection ends its checks first.
 */
const CHECKS: Partial<Record<Redis['status'], (redis: Redis, clock?: RedisClock) => Promise<void>>> = {
  ready: reconnectIfDead,
  connect: reconnectIfSilent,
  end: connectAgain,
};

/** Connect again. ioredis gives up for good when it is to reconnect just while it asks Sentinels for the primary. */
async function connectAgain(redis: Redis): Promise<void> {
  await redis.connect().catch(() => undefined); // The next check sees whether it succeeded.
}

/**
 * Reconnect when Redis sends nothing. A Redis that loads its data replies each time; one that sends nothing is
 * unavailable.
 */
async function reconnectIfSilent(redis: Redis): Promise<void> {
  const { stream } = redis;
  const { bytesRead } = stream;
  await new Promise((resolve) => setTimeout(resolve, GREETING_MS).unref());
  if (redis.status === 'connect' && redis.stream === stream && stream.bytesRead === bytesRead) redis.disconnect(true);
}

async function reconnectIfDead(redis: Redis, clock?: RedisClock): Promise<void> {
  const { stream } = redis;
  // End only the socket that was pinged, because it may have been replaced in the meantime. In a cluster, the node's
  // connection is given up, and the cluster makes another.
  if (!(await respondsToPing(redis, clock)) && redis.stream === stream) redis.disconnect(true);
}

/**
 * Whether Redis serves; for a cluster, whether any primary does. While one of them fails over, the others serve their
 * spaces, unless `cluster-require-full-coverage` makes them also refuse.
 */
export async function responds(client: RedisClient): Promise<boolean> {
  const checks = client instanceof Cluster ? client.nodes('master').map(servesSlots) : [client.ping()];
  return succeeds(Promise.any(checks));
}

async function servesSlots(redis: Redis): Promise<void> {
  if (!String(await redis.cluster('INFO')).includes('cluster_state:ok')) throw new Error('CLUSTERDOWN');
}
