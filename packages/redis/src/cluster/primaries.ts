import { YardmasterError } from '@yardmaster/protocol';
import type { Redis } from 'ioredis';
import { primariesOf, type RedisClient } from '../client.js';
import { withRedisErrors } from '../errors.js';

/** Return a field of the reply to INFO. */
export const infoField = (info: string, field: string) => info.match(new RegExp(`^${field}:(.*?)\r?$`, 'm'))?.[1];

/**
 * Do something at each primary. While one primary of a cluster is unavailable, the others have work to do. So primaries
 * that do not reply are skipped, unless none replies.
 *
 * @throws UNAVAILABLE when none replies; any other error of any one
 */
export async function atEachPrimary<T>(redis: RedisClient, act: (primary: Redis) => Promise<T>): Promise<T[]> {
  const outcomes = await Promise.allSettled(primariesOf(redis).map((primary) => withRedisErrors(act(primary))));
  const failed = outcomes.flatMap((it) => (it.status === 'rejected' ? [it.reason] : []));
  const isAway = (error: unknown) => error instanceof YardmasterError && error.code === 'UNAVAILABLE';
  const fault = failed.find((error) => !isAway(error)) ?? (failed.length === outcomes.length ? failed[0] : undefined);
  if (fault !== undefined) throw fault;
  return outcomes.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []));
}
