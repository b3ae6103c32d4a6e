import { runScript } from './script.js';
import { expire } from './scripts.generated.js';
import type { Store } from './store.js';

/** Deadlines looked at in one step. */
const STEP = 100;

/** What one step of expiry did. */
export interface Expired {
  /** Whether more may be due: the step was full. */
  isMore: boolean;
  /** Delivered jobs that were not acked in time, pending again. */
  redelivered: number;
  /** Attempts that failed because their worker was silent for too long. */
  timedOut: number;
  /** Ended jobs whose retention was over. */
  purged: number;
  /** How long the oldest of them was due, in milliseconds, Redis clock. */
  lateMs: number;
  /** Jobs whose records are not what we write: passed over, and looked at again in a minute. */
  broken: string[];
}

/**
 * Do what is due in one partition: at most 100 deadlines, the oldest first. Any number of processes may call it at
 * once; each deadline is met once.
 *
 * @param partition its tag, see PARTITION_TAGS
 * @throws UNAVAILABLE
 * @see spec §3, "delivery time-out", rules 3 and 6
 */
export async function expireDue(store: Store, partition: string): Promise<Expired> {
  const { eventsPerJob, retentionMs } = store.settings;
  const [, looked, redelivered, timedOut, purged, lateMs, broken] = (await runScript(store, expire, {
    keys: { deadlines: store.keys.deadlines(partition) },
    args: { base: store.keys.baseOf(partition), limit: STEP, eventsPerJob, retentionMs },
  })) as [string, number, number, number, number, number, string[]];
  return { isMore: Number(looked) === STEP, redelivered, timedOut, purged, lateMs, broken };
}
