import { YardmasterError } from '@yardmaster/protocol';
import { primariesOf, slotOf } from '@yardmaster/redis';
import { Cluster, type Redis } from 'ioredis';
import { call } from '../call.js';
import { PARTITION_TAGS } from '../partition.js';
import type { Store } from '../store.js';
import { msOf } from '../time.js';

/** One look at the clock of a Redis. */
export interface ClockLook {
  /** Time that it returned, epoch milliseconds. */
  redisMs: number;
  /**
   * When this process sent the command and received the reply, in milliseconds of its monotonic clock. Redis read its
   * clock in between.
   */
  askedAt: number;
  heardAt: number;
}

/** Largest change of the clock that does not count as a step, because deadlines may be processed up to 2 s late. */
const SMALL_MS = 2_000;

/**
 * Measure by how much Redis' clock has stepped between two looks, compared with the monotonic clock of this process.
 * Only the certain part counts: a slow reply, or a process that stood still, shows no step.
 *
 * @returns milliseconds, at least; negative for a step back; 0 for none, or one of at most 2 s
 */
export function stepBetween(before: ClockLook, now: ClockLook): number {
  const passed = now.redisMs - before.redisMs;
  const forward = passed - (now.heardAt - before.askedAt);
  if (forward > SMALL_MS) return Math.round(forward);
  const back = passed - (now.askedAt - before.heardAt);
  return back < -SMALL_MS ? Math.round(back) : 0;
}

const addressOf = ({ options }: Redis) => `${options.host}:${options.port}`;

/**
 * Look at the clock of each partition; in a cluster, at the clock of the primary that has the partition. These clocks
 * differ somewhat, so a step is measured by looks at one partition.
 *
 * @returns the looks by partition, without those whose primary is unavailable, and why these are missing; null when
 *   none is
 */
export async function lookAtClocks(store: Store): Promise<{ clocks: Map<string, ClockLook>; fault: unknown }> {
  const { redis, keys } = store;
  let fault: unknown = null;
  const looks = new Map<string, ClockLook>();
  const look = async (primary: Redis) => {
    const askedAt = performance.now();
    try {
      const redisMs = msOf(await call(store, 'time', primary.time()));
      looks.set(addressOf(primary), { redisMs, askedAt, heardAt: performance.now() });
    } catch (error) {
      fault = error;
    }
  };
  await Promise.all(primariesOf(redis).map(look));

  const [only] = looks.values();
  const lookOf = (tag: string) =>
    redis instanceof Cluster ? looks.get(redis.slots[slotOf(keys.baseOf(tag))]?.[0] ?? '') : only;
  const known = PARTITION_TAGS.flatMap((tag) => {
    const found = lookOf(tag);
    return found === undefined ? [] : [[tag, found] as const];
  });
  if (known.length < PARTITION_TAGS.length) fault ??= new YardmasterError('UNAVAILABLE');
  return { clocks: new Map(known), fault };
}
