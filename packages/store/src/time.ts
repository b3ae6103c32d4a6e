import { ask } from './ask.js';
import { primariesOf, type RedisClient, type Store } from './store.js';

/**
 * Redis' clock, epoch milliseconds: the only clock that jobs know. Of a cluster, that of any primary.
 *
 * @throws UNAVAILABLE
 */
export async function redisNow(store: Store): Promise<number> {
  return msOf(await ask(store, 'time', timeOf(store.redis)));
}

/** Epoch milliseconds of what TIME replies with. */
export const msOf = ([seconds, micros]: unknown[]) => Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);

/** Of a cluster the first answer: ioredis would ask one at random, which may be the one that is away. */
async function timeOf(redis: RedisClient): Promise<unknown[]> {
  try {
    return await Promise.any(primariesOf(redis).map((primary) => primary.time()));
  } catch (error) {
    throw (error as AggregateError).errors[0] ?? new Error("Cluster isn't ready");
  }
}

/** ISO 8601 in UTC with milliseconds, of epoch milliseconds as Redis keeps them. */
export function isoOf(epochMs: number | string): string {
  const ms = Math.trunc(Number(epochMs));
  const second = Math.floor(ms / 1000);
  if (second !== knownSecond) {
    knownText = new Date(second * 1000).toISOString().slice(0, -4);
    knownSecond = second;
  }
  return `${knownText}${String(ms - second * 1000).padStart(3, '0')}Z`;
}

/** The second that was written last, up to its point: most times are of the second that the one before was of. */
let knownSecond = Number.NaN;
let knownText = '';

/** The same, where an absent field means null. */
export function isoOrNull(epochMs: string | null | undefined): string | null {
  return epochMs ? isoOf(epochMs) : null;
}

/** Epoch milliseconds of an order score: its upper part (see lua/shared/order.lua). */
const msOfOrder = (order: string) => Math.floor(Number(order) / 1024);

/** Creation time of a job. */
export function isoOfOrder(order: string): string {
  return isoOf(msOfOrder(order));
}

/**
 * How long a job with this order score has waited, in seconds. Orders may be ahead of the clock: of many jobs in one
 * millisecond, or after it stepped back.
 */
export function ageSeconds(order: string, now: number): number {
  return Math.max(0, now - msOfOrder(order)) / 1000;
}
