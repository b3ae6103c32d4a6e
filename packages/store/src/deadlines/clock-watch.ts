import { YardmasterError } from '@yardmaster/protocol';
import pLimit from 'p-limit';
import type { Store } from '../store.js';
import { type ClockLook, stepBetween } from './clock-looks.js';
import { markStep, restoreDeadlines } from './clock-steps.js';

/**
 * How long a new watch lets no deadline be processed. A step may have come just before its start, which it cannot see.
 * Another scheduler looks at the clock at least every 1.6 s (see ticks.ts) and marks that step.
 */
const SETTLE_MS = 2_000;

/** Partitions whose jobs are searched at once. */
const WALKS_AT_ONCE = 4;

/** Result of following the clocks. */
export interface Followed {
  /** Partitions in which deadlines may be processed, up to the time of the look. */
  settled: ReadonlySet<string>;
  /**
   * By how much the clock has stepped, in milliseconds, negative for back; 0 for no step. In a cluster, the step of one
   * of the partitions.
   */
  steppedMs: number;
  /** Jobs that were given another window, because the clock had stepped back. */
  broughtBack: number;
  /** Errors; what failed is tried again at the next look. */
  faults: unknown[];
}

/**
 * Watches Redis' clock against the monotonic clock of this process, so that a step neither ends windows early nor keeps
 * jobs waiting for as long as the step was.
 *
 * What was due at a look was due before any later step, so only that is processed. When a look shows a step, it is
 * handled before the next deadline is processed. A step forward is marked (`markStep`); after a step back, jobs are
 * brought back (`bringBack`).
 */
export interface ClockWatch {
  follow(clocks: ReadonlyMap<string, ClockLook>): Promise<Followed>;
}

/**
 * Create a watch of Redis' clock.
 *
 * @param settleMs for how long it lets no deadline be processed at first. Default 2 000
 */
export function createClockWatch(store: Store, settleMs = SETTLE_MS): ClockWatch {
  const known = new Map<string, { look: ClockLook; since: number }>();
  const abreast = pLimit(WALKS_AT_ONCE);

  async function walk(partition: string, { faults }: Followed): Promise<number> {
    try {
      return await restoreDeadlines(store, partition);
    } catch (error) {
      if (error instanceof YardmasterError) throw error;
      faults.push(error); // A key of another type, which fsck reports. It must not keep the partition from being swept.
      return 0;
    }
  }

  async function followOne(partition: string, look: ClockLook, followed: Followed): Promise<boolean> {
    const before = known.get(partition);
    const steppedMs = before === undefined ? 0 : stepBetween(before.look, look);
    if (before !== undefined && steppedMs > 0) await markStep(store, partition, before.look.redisMs);
    // Also at the first look: the clock may have stepped back while no scheduler was running, or a scheduler died while
    // it handled the step.
    if (before === undefined || steppedMs < 0) {
      const broughtBack = await abreast(walk, partition, followed);
      followed.broughtBack += broughtBack; // A separate statement, because other calls add to it while this one waits.
    }
    if (steppedMs !== 0) followed.steppedMs = steppedMs;
    const since = before?.since ?? look.heardAt;
    known.set(partition, { look, since });
    return look.askedAt - since >= settleMs;
  }

  return {
    async follow(clocks) {
      const settled = new Set<string>();
      const followed: Followed = { settled, steppedMs: 0, broughtBack: 0, faults: [] };
      const one = async ([partition, look]: [string, ClockLook]) => {
        try {
          if (await followOne(partition, look, followed)) settled.add(partition);
        } catch (error) {
          followed.faults.push(error);
        }
      };
      await Promise.all([...clocks].map(one));
      return followed;
    },
  };
}
