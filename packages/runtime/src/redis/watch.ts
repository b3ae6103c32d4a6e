import { Cluster, type Redis } from 'ioredis';
import type { RedisClient } from './client.js';
import type { RedisClock } from './clock.js';

/** How long a pong may take: longer than a command, since a long reply in front of it is no fault of the connection. */
const PONG_MS = 3_000;

/** How long Redis may say nothing on a new connection: as long as making one may take. */
const GREETING_MS = 2_000;

async function answersPing(redis: Redis, clock: RedisClock | undefined): Promise<boolean> {
  const ask = () => (clock ? askTime(redis, clock) : redis.ping());
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, PONG_MS, false).unref();
  });
  const pong = ask().then(
    () => true,
    // The command's own time-out is shorter; ask again within the deadline. Any other error is for `close` to mend.
    (error: Error) =>
      error.message === 'Command timed out'
        ? ask().then(
            () => true,
            () => false,
          )
        : true,
  );
  const answered = await Promise.race([pong, late]);
  clearTimeout(timer);
  return answered;
}

async function askTime(redis: Redis, clock: RedisClock): Promise<void> {
  const sentAt = performance.now();
  const [seconds, micros] = await redis.time();
  clock.learn(redis, Number(seconds) * 1000 + Number(micros) / 1000, sentAt);
}

/** Every connection of which a client is made, to be looked after one by one. */
const connectionsOf = (client: RedisClient) => (client instanceof Cluster ? client.nodes() : [client]);

export interface WatchOptions {
  everyMs?: number;
  isBlocking?: boolean;
  clock?: RedisClock;
}

/**
 * Ping a connection, and make a new one when no pong comes: a half-open one never heals by itself, and pub/sub
 * loses silently. One may also be half-open from its beginning, accepted by what stands in front of a Redis that is
 * away; ioredis' `connectTimeout` is met by then, and what it asks first has no deadline unless commands have one.
 *
 * @param clock learns Redis' time: the connection is asked for it in place of a ping
 * @param isBlocking whether it waits in commands that block, behind which a ping would wait, too, and is somebody else's
 *   to end: then only its beginning is looked after
 * @returns a function that ends the watch
 */
export function watchConnection(
  client: RedisClient,
  { everyMs = 1_000, isBlocking = false, clock }: WatchOptions = {},
): () => void {
  const waiting = new WeakSet<Redis>();
  const timer = setInterval(() => {
    for (const redis of connectionsOf(client)) {
      const look = LOOKS[redis.status];
      if (waiting.has(redis) || look === undefined || (isBlocking && look !== hearOrReconnect)) continue;
      waiting.add(redis);
      void look(redis, clock).finally(() => waiting.delete(redis));
    }
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * How a connection is looked after, by its status: `connect` is one that Redis has not answered on as it should yet,
 * `end` one that ioredis has given up. Whoever ends a connection ends the watch first.
 */
const LOOKS: Partial<Record<Redis['status'], (redis: Redis, clock?: RedisClock) => Promise<void>>> = {
  ready: pingOrReconnect,
  connect: hearOrReconnect,
  end: connectAgain,
};

/** ioredis gives a connection up for good when it is told to make it anew just while it asks Sentinels for the primary. */
async function connectAgain(redis: Redis): Promise<void> {
  await redis.connect().catch(() => undefined); // Looked after like any other.
}

/** A Redis that loads its data says so each time that it is asked; one that says nothing is not there. */
async function hearOrReconnect(redis: Redis): Promise<void> {
  const { stream } = redis;
  const { bytesRead } = stream;
  await new Promise((resolve) => setTimeout(resolve, GREETING_MS).unref());
  if (redis.status === 'connect' && redis.stream === stream && stream.bytesRead === bytesRead) redis.disconnect(true);
}

async function pingOrReconnect(redis: Redis, clock?: RedisClock): Promise<void> {
  const { stream } = redis;
  // Only the socket that was asked: it may have been replaced meanwhile. That of a cluster's node is given up; the
  // cluster makes another.
  if (!(await answersPing(redis, clock)) && redis.stream === stream) redis.disconnect(true);
}

/**
 * Whether Redis serves: of a cluster, whether any primary says so. While one of them fails over, the others serve their
 * spaces; unless `cluster-require-full-coverage` has them refuse, too.
 */
export async function answers(client: RedisClient): Promise<boolean> {
  const asked = client instanceof Cluster ? client.nodes('master').map(servesSlots) : [client.ping()];
  return Promise.any(asked).then(
    () => true,
    () => false,
  );
}

async function servesSlots(redis: Redis): Promise<void> {
  if (!String(await redis.cluster('INFO')).includes('cluster_state:ok')) throw new Error('CLUSTERDOWN');
}
