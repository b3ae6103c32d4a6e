import calculateSlot from 'cluster-key-slot';
import { Cluster, type Redis } from 'ioredis';
import { isUnavailable, withRedisErrors } from './errors.js';

export type { Cluster };

/** A client of Redis: connected to one server, which sentinels may find, or to each node of a cluster. */
export type RedisClient = Redis | Cluster;

/** Return whether a client is connected to a cluster. */
export const isCluster = (client: RedisClient): client is Cluster => client instanceof Cluster;

/** Return the connections to every Redis that contains data: the primaries of a cluster, or the single server. */
export const primariesOf = (redis: RedisClient): Redis[] =>
  redis instanceof Cluster ? redis.nodes('master') : [redis];

/**
 * Make a call to each primary. Primaries that don't reply are skipped unless none replies, because the others must still be
 * served.
 *
 * @throws UNAVAILABLE if none replies; any other error of any primary
 */
export async function atEachPrimary<T>(redis: RedisClient, act: (primary: Redis) => Promise<T>): Promise<T[]> {
  const outcomes = await Promise.allSettled(primariesOf(redis).map((primary) => withRedisErrors(act(primary))));
  const errors = outcomes.flatMap((it) => (it.status === 'rejected' ? [it.reason] : []));
  const hasAllFailed = errors.length === outcomes.length;
  const thrown = errors.find((error) => !isUnavailable(error)) ?? (hasAllFailed ? errors[0] : undefined);
  if (thrown !== undefined) throw thrown;
  return outcomes.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []));
}

/** Return a field of the reply to INFO. */
export const infoField = (info: string, field: string) => info.match(new RegExp(`^${field}:(.*?)\r?$`, 'm'))?.[1];

/** Return the cluster slot (0 to 16,383) of a key or sharded channel. */
export const slotOf = (key: string): number => calculateSlot(key);
