import { Cluster, type Redis } from 'ioredis';
import type { RedisClient } from './connect.js';

/** How long a pong may take: longer than a command, since a long reply in front of it is no fault of the connection. */
const PONG_MS = 3_000;

async function answersPing(redis: Redis): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, PONG_MS, false).unref();
  });
  const pong = redis.ping().then(
    () => true,
    // The command's own time-out is shorter; ask again within the deadline. Any other error is for `close` to mend.
    (error: Error) =>
      error.message === 'Command timed out'
        ? redis.ping().then(
            () => true,
            () => false,
          )
        : true,
  );
  const answered = await Promise.race([pong, late]);
  clearTimeout(timer);
  return answered;
}

/** Every connection of which a client is made, to be looked after one by one. */
const connectionsOf = (client: RedisClient) => (client instanceof Cluster ? client.nodes() : [client]);

/**
 * Ping a connection, and make a new one when no pong comes: a half-open one never heals by itself, and pub/sub
 * loses silently.
 *
 * @returns a function that ends the watch
 */
export function watchConnection(client: RedisClient, everyMs = 1_000): () => void {
  const waiting = new WeakSet<Redis>();
  const timer = setInterval(() => {
    for (const redis of connectionsOf(client)) {
      if (waiting.has(redis) || redis.status !== 'ready') continue;
      waiting.add(redis);
      void pingOrReconnect(redis).finally(() => waiting.delete(redis));
    }
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

async function pingOrReconnect(redis: Redis): Promise<void> {
  const { stream } = redis;
  // Only the socket that was asked: it may have been replaced meanwhile. That of a cluster's node is given up; the
  // cluster makes another.
  if (!(await answersPing(redis)) && redis.stream === stream) redis.disconnect(true);
}

/** Whether Redis answers: of a cluster, any primary does. While one of them fails over, the others serve their spaces. */
export async function answers(client: RedisClient): Promise<boolean> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  return Promise.any(nodes.map((redis) => redis.ping())).then(
    () => true,
    () => false,
  );
}
