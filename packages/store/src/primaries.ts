import { YardmasterError } from '@yardmaster/protocol';
import type { Redis } from 'ioredis';
import { asked } from './redis-errors.js';
import { primariesOf, type Store } from './store.js';

/** A field of what INFO replies with. */
export const infoField = (info: string, field: string) => info.match(new RegExp(`^${field}:(.*?)\r?$`, 'm'))?.[1];

/**
 * Do something at each primary. While one of a cluster is away the others have work to do, so those that do not answer
 * are passed over unless none does.
 *
 * @throws UNAVAILABLE when none answers; what is wrong with any one
 */
export async function atEachPrimary<T>({ redis }: Store, act: (primary: Redis) => Promise<T>): Promise<T[]> {
  const outcomes = await Promise.allSettled(primariesOf(redis).map((primary) => asked(act(primary))));
  const failed = outcomes.flatMap((it) => (it.status === 'rejected' ? [it.reason] : []));
  const isAway = (error: unknown) => error instanceof YardmasterError && error.code === 'UNAVAILABLE';
  const fault = failed.find((error) => !isAway(error)) ?? (failed.length === outcomes.length ? failed[0] : undefined);
  if (fault !== undefined) throw fault;
  return outcomes.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []));
}
