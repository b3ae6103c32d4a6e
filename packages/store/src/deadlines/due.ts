import { YardmasterError } from '@yardmaster/protocol';
import { call } from '../call.js';
import { PARTITION_TAGS } from '../keys.js';
import type { Store } from '../store.js';
import { type ClockReading, readClocks } from './clock-steps.js';

/** Partitions that have something due, by the function that processes it. */
export interface Due {
  /** For `expireDue`. */
  deadlines: string[];
  /** For `promoteDue`. */
  promotions: string[];
  /** For `fireSchedules`. */
  schedules: string[];
  /** For `stepOperation`: an operation is running there. */
  operations: string[];
  /** For `relayCallbacks`. */
  callbacks: string[];
  /** For `requeueResumed`. */
  pauses: string[];
  /** For `recountBytes`. */
  recounts: string[];
  /** Clock of each partition that could be read, by tag. */
  clocks: ReadonlyMap<string, ClockReading>;
  /** Why some partitions could not be read: their primaries in a cluster are unavailable. */
  faults: unknown[];
}

/**
 * Find partitions with something due, by the clock of Redis; in a cluster, by the clock of each partition's primary.
 *
 * @throws UNAVAILABLE when no partition could be read
 */
export async function findDue(store: Store): Promise<Due> {
  const faults: unknown[] = [];
  const first = async (key: string) => {
    try {
      return Number((await call(store, 'zrange', store.redis.zrange(key, 0, 0, 'WITHSCORES')))[1]);
    } catch (error) {
      if (!(error instanceof YardmasterError)) return 0; // The key is not a sorted set. Its script fails there.
      faults.push(error);
      return Number.NaN;
    }
  };
  const firsts = (keyOf: (tag: string) => string) => Promise.all(PARTITION_TAGS.map((tag) => first(keyOf(tag))));
  const [{ clocks, fault }, deadlines, promotions, schedules, operations, callbacks, pauses, recounts] =
    await Promise.all([
      readClocks(store),
      firsts(store.keys.deadlines),
      firsts(store.keys.due),
      firsts(store.keys.schedules),
      firsts(store.keys.operations),
      firsts(store.keys.callbacks),
      firsts(store.keys.pauses),
      firsts(store.keys.recounts),
    ]);
  if (clocks.size === 0 || faults.length === 7 * PARTITION_TAGS.length) throw fault ?? faults[0];
  if (fault !== null) faults.push(fault);
  const isDue = (at: number | undefined, tag: string) => (at as number) <= (clocks.get(tag)?.redisMs ?? Number.NaN);
  return {
    // NaN means that the set is empty or could not be read, so it is never due. Each script decides whether a deadline at
    // exactly `now` is due.
    deadlines: PARTITION_TAGS.filter((tag, n) => isDue(deadlines[n], tag)),
    promotions: PARTITION_TAGS.filter((tag, n) => isDue(promotions[n], tag)),
    schedules: PARTITION_TAGS.filter((tag, n) => isDue(schedules[n], tag)),
    operations: PARTITION_TAGS.filter((_, n) => (operations[n] as number) > 0),
    callbacks: PARTITION_TAGS.filter((tag, n) => isDue(callbacks[n], tag)),
    pauses: PARTITION_TAGS.filter((tag, n) => isDue(pauses[n], tag)),
    recounts: PARTITION_TAGS.filter((tag, n) => isDue(recounts[n], tag)),
    clocks,
    faults,
  };
}
