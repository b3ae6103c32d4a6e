import { primariesOf, type RedisClient } from '@yardmaster/redis';
import { call } from './call.js';
import type { Store } from './store.js';

/**
 * Read the clock of Redis, or the manual clock if there is one, epoch milliseconds. In a cluster, read the clock of any
 * primary.
 *
 * @throws UNAVAILABLE
 */
export async function redisNow(store: Store): Promise<number> {
  const { redis, keys, settings } = store;
  if (settings.isClockManual) return Number(await call(store, 'get', redis.get(keys.manualClock)));
  return msOf(await call(store, 'time', timeOf(redis)));
}

/** Convert the reply to TIME to epoch milliseconds. */
export const msOf = ([seconds, micros]: unknown[]) => Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);

/**
 * Read TIME. In a cluster, ask every primary and take the first reply, because ioredis would ask a random one, which may
 * be unavailable.
 */
async function timeOf(redis: RedisClient): Promise<unknown[]> {
  try {
    return await Promise.any(primariesOf(redis).map((primary) => primary.time()));
  } catch (error) {
    throw (error as AggregateError).errors[0] ?? new Error("Cluster isn't ready");
  }
}

/** Format epoch milliseconds as ISO 8601 in UTC with milliseconds. */
export function isoOf(epochMs: number | string): string {
  const ms = Math.trunc(Number(epochMs));
  const second = Math.floor(ms / 1000);
  if (second !== knownSecond) {
    knownText = new Date(second * 1000).toISOString().slice(0, -4);
    knownSecond = second;
  }
  return `${knownText}${String(ms - second * 1000).padStart(3, '0')}Z`;
}

/**
 * The second that was formatted last, and its text up to the decimal point. Most times fall into the same second as the
 * previous one.
 */
let knownSecond = Number.NaN;
let knownText = '';

/** Format epoch milliseconds as ISO 8601; null for an absent field. */
export function isoOrNull(epochMs: string | null | undefined): string | null {
  return epochMs ? isoOf(epochMs) : null;
}

/** Return the time in an order, epoch milliseconds; see nextOrder in lua/queue.lua. */
export const msOfOrder = (order: string) => Math.floor(Number(order) / 1024);

/** Format the creation time of a job with this order. */
export function isoOfOrder(order: string): string {
  return isoOf(msOfOrder(order));
}

/**
 * Return the claim order of a job, given its score in a queue; see queueScore in lua/waiting/waiting.lua.
 *
 * @param priority priority in the record, in seconds
 */
export const withoutHeadStart = (score: string, priority: string | null) =>
  priority === null ? score : String(Number(score) + Number(priority) * 1000 * 1024);

/**
 * Return how long a job with this claim order has waited, in seconds. An order can be ahead of the clock when many jobs
 * were created in one millisecond, or after the clock stepped back.
 */
export function ageSeconds(order: string, now: number): number {
  return Math.max(0, now - msOfOrder(order)) / 1000;
}
