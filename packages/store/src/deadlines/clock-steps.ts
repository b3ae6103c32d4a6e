import { type Status, YardmasterError } from '@yardmaster/protocol';
import { primariesOf, slotOf } from '@yardmaster/redis';
import { Cluster, type Redis } from 'ioredis';
import { call } from '../call.js';
import { PARTITION_TAGS } from '../keys.js';
import { runScript } from '../script/run-script.js';
import { mark_step, reopen_windows } from '../script/scripts.generated.js';
import type { Store } from '../store.js';
import { msOf, redisNow } from '../time.js';

/** Jobs checked in one script, and spaces in one portion. */
const BATCH = 100;

const WORKING: readonly Status[] = ['delivered', 'running'];

/**
 * Record that Redis' clock has stepped forward. From then on, `expireDue` gives one more window to a delivered or
 * running job whose worker's last call was before the step. It does not end the attempt, which had less than its
 * window.
 *
 * @param readAt when the caller last read this clock, before the step, by Redis' time
 * @returns whether this call recorded it; false when another scheduler had done so
 * @throws UNAVAILABLE
 */
export async function markStep(store: Store, partition: string, readAt: number): Promise<boolean> {
  const keys = { stepped: store.keys.stepped(partition) };
  const { marked } = await runScript(store, mark_step, { keys, args: { readAt } });
  return marked === 1;
}

/**
 * Give one more window to each delivered or running job of a partition whose worker's last call is in the future.
 * Redis' clock has stepped back since, and without this the job would wait for as long as the step was. A second call
 * does no harm. It costs two short commands for each space.
 *
 * @returns jobs that were given a window
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
  /** Time that it returned, epoch milliseconds. */
  redisMs: number;
  /**
   * When this process sent the command and received the reply, in milliseconds of its monotonic clock. Redis read its
   * clock in between.
   */
  sentAt: number;
  receivedAt: number;
}

/** Largest change of the clock that does not count as a step, because deadlines may be processed up to 2 s late. */
const SMALL_MS = 2_000;

/**
 * Measure by how much Redis' clock has stepped between two readings, compared with the monotonic clock of this process.
 * Only the certain part counts: a slow reply, or a process that stood still, shows no step.
 *
 * @returns milliseconds, at least; negative for a step back; 0 for none, or one of at most 2 s
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
 * Read the clock of each partition; in a cluster, the clock of the primary that has the partition. These clocks differ
 * somewhat, so a step is measured by readings of one partition.
 *
 * @returns the readings by partition, and the fault: why a primary is unavailable and its partitions are missing; null
 *   when none is
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
