import { type Status, YardmasterError } from '@yardmaster/protocol';
import { primariesOf, slotOf } from '@yardmaster/redis';
import { Cluster, type Redis } from 'ioredis';
import { call } from '../call.js';
import { PARTITION_TAGS } from '../keys.js';
import { runScript } from '../script/run-script.js';
import { mark_step, reopen_windows } from '../script/scripts.generated.js';
import type { Store } from '../store.js';
import { msOf, redisNow } from '../time.js';

/** Jobs per script, and spaces per scan. */
const BATCH = 100;

const WORKING: readonly Status[] = ['delivered', 'running'];

/**
 * Record that the clock of Redis has stepped forward. From then on, `expireDue` restarts the window of a delivered or
 * running job once if its worker's last call was before the step, because its window was cut short.
 *
 * @param readAt what this clock showed when the caller last read it, before the step
 * @returns whether this call recorded the step; false if another scheduler already had
 * @throws UNAVAILABLE
 */
export async function markStep(store: Store, partition: string, readAt: number): Promise<boolean> {
  const keys = { stepped: store.keys.stepped(partition) };
  const { marked } = await runScript(store, mark_step, { keys, args: { readAt } });
  return marked === 1;
}

/**
 * Restart the window of each delivered or running job of a partition whose worker's last call is in the future, because
 * the clock of Redis has stepped back since. Otherwise the window would be longer by the size of the step. A second call
 * does no harm. The cost is two short commands per space.
 *
 * @returns number of restarted windows
 * @throws UNAVAILABLE
 */
export async function reopenWindows(store: Store, partition: string): Promise<number> {
  const { redis, keys } = store;
  let total = 0;
  for (let cursor = '0'; ; ) {
    const scan = redis.zscan(keys.spaces(partition), cursor, 'COUNT', BATCH);
    const [next, flat] = await call(store, 'zscan', scan);
    const spaces = flat.filter((_, i) => i % 2 === 0);
    const indexes = spaces.flatMap((space) => WORKING.map((status) => keys.jobsByStatus(space, status)));
    const sizes = await Promise.all(indexes.map((index) => call(store, 'zcard', redis.zcard(index))));
    for (const [i, index] of indexes.entries()) if (sizes[i]) total += await reopenIn(store, partition, index);
    cursor = next;
    if (cursor === '0') return total;
  }
}

async function reopenIn(store: Store, partition: string, index: string): Promise<number> {
  let total = 0;
  for (let afterOrder = '-inf'; ; ) {
    const { examined, lastOrder, reopened } = await runScript(store, reopen_windows, {
      keys: { index },
      args: { base: store.keys.baseOf(partition), afterOrder, limit: BATCH },
    });
    total += reopened;
    if (examined < BATCH) return total;
    afterOrder = lastOrder;
  }
}

/** One reading of the clock of a Redis. */
export interface ClockReading {
  /** Time that Redis returned, epoch milliseconds. */
  redisMs: number;
  /**
   * When this process sent the command and received the reply, by its monotonic clock, in milliseconds. Redis read its
   * clock in between.
   */
  sentAt: number;
  receivedAt: number;
}

/** Largest change of the clock that does not count as a step. Deadlines may be processed up to 2 s late anyway. */
const SMALL_MS = 2_000;

/**
 * Measure how far the clock of Redis has stepped between two readings, compared with the monotonic clock of this
 * process. Only the certain part counts, so a slow reply or a stalled process does not look like a step.
 *
 * @returns lower bound in milliseconds; negative for a step back; 0 for no step, or one of at most 2 s
 */
export function stepBetween(before: ClockReading, now: ClockReading): number {
  const passed = now.redisMs - before.redisMs;
  const forward = passed - (now.receivedAt - before.sentAt);
  if (forward > SMALL_MS) return Math.round(forward);
  const back = passed - (now.sentAt - before.receivedAt);
  return back < -SMALL_MS ? Math.round(back) : 0;
}

const addressOf = ({ options }: Redis) => `${options.host}:${options.port}`;

/**
 * Read the clock of each partition; in a cluster, the clock of its primary. These clocks differ slightly, so measure a
 * step only between readings of one partition.
 *
 * @returns the readings by partition, and why some are missing because a primary is unavailable; null if none is missing
 */
export async function readClocks(store: Store): Promise<{ clocks: Map<string, ClockReading>; fault: unknown }> {
  const { redis, keys, settings } = store;
  let fault: unknown = null;
  const readings = new Map<string, ClockReading>();
  const read = async (primary: Redis) => {
    const sentAt = performance.now();
    try {
      const redisMs = settings.isClockManual ? await redisNow(store) : msOf(await call(store, 'time', primary.time()));
      readings.set(addressOf(primary), { redisMs, sentAt, receivedAt: performance.now() });
    } catch (error) {
      fault = error;
    }
  };
  await Promise.all(primariesOf(redis).map(read));

  const [only] = readings.values();
  const readingOf = (tag: string) =>
    redis instanceof Cluster ? readings.get(redis.slots[slotOf(keys.baseOf(tag))]?.[0] ?? '') : only;
  const known = PARTITION_TAGS.flatMap((tag) => {
    const found = readingOf(tag);
    return found === undefined ? [] : [[tag, found] as const];
  });
  if (known.length < PARTITION_TAGS.length) fault ??= new YardmasterError('UNAVAILABLE');
  return { clocks: new Map(known), fault };
}
