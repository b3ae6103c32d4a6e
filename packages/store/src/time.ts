import { ask } from './ask.js';
import type { Store } from './store.js';

/**
 * Redis' clock, epoch milliseconds: the only clock that jobs know.
 *
 * @throws UNAVAILABLE
 */
export async function redisNow(store: Store): Promise<number> {
  const [seconds, micros] = await ask(store, 'time', store.redis.time());
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}

/** ISO 8601 in UTC with milliseconds, of epoch milliseconds as Redis keeps them. */
export function isoOf(epochMs: number | string): string {
  return new Date(Number(epochMs)).toISOString();
}

/** The same, where an absent field means null. */
export function isoOrNull(epochMs: string | null | undefined): string | null {
  return epochMs ? isoOf(epochMs) : null;
}

/** Creation time of a job: the upper part of its order score (see lua/shared/order.lua). */
export function isoOfOrder(order: string): string {
  return isoOf(Math.floor(Number(order) / 1024));
}
