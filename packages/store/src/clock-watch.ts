import { YardmasterError } from '@yardmaster/protocol';
import pLimit from 'p-limit';
import { type ClockLook, stepBetween } from './clock-looks.js';
import { bringBack, markStep } from './clock-steps.js';
import type { Store } from './store.js';

/**
 * A new watch lets no deadline be met for so long: a step may have come just before it, which it cannot see, and another
 * scheduler looks at the clock at least every 1.6 s (see ticks.ts) and marks it.
 */
const SETTLE_MS = 2_000;

/** Partitions that are walked through at once. */
const WALKS_AT_ONCE = 4;

/** What came of following the clocks. */
export interface Followed {
  /** Partitions in which deadlines may be met, up to the time of the look. */
  settled: ReadonlySet<string>;
  /** By how much the clock has stepped, milliseconds, negative for back; 0 for no step. Of a cluster that of some partition. */
  steppedMs: number;
  /** Jobs that were given another window, since the clock had stepped back. */
  broughtBack: number;
  /** What went wrong; it is tried again at the next look. */
  faults: unknown[];
}

/**
 * Watches Redis' clock against the monotonic clock of this process, so that a step of it neither ends windows that are not
 * over nor keeps jobs waiting for as long as it was.
 *
 * Whatever was due at a look was due before any later step, so only that is met. Once a look shows a step, it is dealt with
 * before the next deadline is met: one forward is marked (`markStep`), and after one back jobs are brought back (`bringBack`).
 */
export interface ClockWatch {
  follow(clocks: ReadonlyMap<string, ClockLook>): Promise<Followed>;
}

/**
 * Make a watch of Redis' clock.
 *
 * @param settleMs for how long it lets no deadline be met at first. Default 2 000
 */
export function createClockWatch(store: Store, settleMs = SETTLE_MS): ClockWatch {
  const known = new Map<string, { look: ClockLook; since: number }>();
  const abreast = pLimit(WALKS_AT_ONCE);

  async function walk(partition: string, { faults }: Followed): Promise<number> {
    try {
      return await bringBack(store, partition);
    } catch (error) {
      if (error instanceof YardmasterError) throw error;
      faults.push(error); // A key of another type, which fsck names. It must not keep the partition from being swept.
      return 0;
    }
  }

  async function followOne(partition: string, look: ClockLook, followed: Followed): Promise<boolean> {
    const before = known.get(partition);
    const steppedMs = before === undefined ? 0 : stepBetween(before.look, look);
    if (before !== undefined && steppedMs > 0) await markStep(store, partition, before.look.redisMs);
    // At first, too: the clock may have stepped back when no scheduler was there, or while one died over it.
    if (before === undefined || steppedMs < 0) {
      const broughtBack = await abreast(walk, partition, followed);
      followed.broughtBack += broughtBack; // In a statement of its own: others add to it while this one waits.
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
