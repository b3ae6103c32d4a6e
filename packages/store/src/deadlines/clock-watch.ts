import { YardmasterError } from '@yardmaster/protocol';
import pLimit from 'p-limit';
import type { Store } from '../store.js';
import { type ClockReading, markStep, reopenWindows, stepBetween } from './clock-steps.js';

/**
 * How long a new watch lets no deadline be processed. A step may have come just before its start, which it cannot see.
 * Another scheduler reads the clock at least every 1.5 s, with or without ticks, and marks that step.
 */
const SETTLE_MS = 2_000;

/** Partitions whose jobs are searched at once. */
const WALKS_AT_ONCE = 4;

/** Result of following the clocks. */
export interface Followed {
  /** Partitions in which deadlines may be processed, up to the time of the reading. */
  settled: ReadonlySet<string>;
  /**
   * By how much the clock has stepped, in milliseconds, negative for back; 0 for no step. In a cluster, the step of one
   * of the partitions.
   */
  steppedMs: number;
  /** Jobs that were given another window, because the clock had stepped back. */
  broughtBack: number;
  /** Errors; failed steps are tried again at the next reading. */
  faults: unknown[];
}

/**
 * Watches Redis' clock against the monotonic clock of this process, so that a step does not end windows early, and does
 * not keep jobs waiting for as long as the step was.
 *
 * Deadlines that were due at a reading were due before any later step, so only these are processed. When a reading
 * shows a step, it is handled before the next deadline is processed. A step forward is marked (`markStep`); after a
 * step back, windows are opened again (`reopenWindows`).
 */
export interface ClockWatch {
  follow(clocks: ReadonlyMap<string, ClockReading>): Promise<Followed>;
}

/** The watch of a manual clock, whose steps are meant: a window that they end is over. */
const NO_STEPS: ClockWatch = {
  follow: async (clocks) => ({ settled: new Set(clocks.keys()), steppedMs: 0, broughtBack: 0, faults: [] }),
};

/**
 * Create a watch of Redis' clock.
 *
 * @param settleMs for how long it lets no deadline be processed at first. Default 2,000
 */
export function createClockWatch(store: Store, settleMs = SETTLE_MS): ClockWatch {
  if (store.settings.isClockManual) return NO_STEPS;
  const known = new Map<string, { reading: ClockReading; since: number }>();
  const abreast = pLimit(WALKS_AT_ONCE);

  async function walk(partition: string, { faults }: Followed): Promise<number> {
    try {
      return await reopenWindows(store, partition);
    } catch (error) {
      if (error instanceof YardmasterError) throw error;
      faults.push(error); // A key of another type, which fsck reports. It must not keep the partition from being swept.
      return 0;
    }
  }

  async function followOne(partition: string, reading: ClockReading, followed: Followed): Promise<boolean> {
    const before = known.get(partition);
    const steppedMs = before === undefined ? 0 : stepBetween(before.reading, reading);
    if (before !== undefined && steppedMs > 0) await markStep(store, partition, before.reading.redisMs);
    // Do this at the first reading, too, because the clock may have stepped back while no scheduler was running, or a
    // scheduler may have stopped while it handled the step.
    if (before === undefined || steppedMs < 0) {
      const broughtBack = await abreast(walk, partition, followed);
      followed.broughtBack += broughtBack; // A separate statement, because other calls add to it while this one waits.
    }
    if (steppedMs !== 0) followed.steppedMs = steppedMs;
    const since = before?.since ?? reading.receivedAt;
    known.set(partition, { reading, since });
    return reading.sentAt - since >= settleMs;
  }

  return {
    async follow(clocks) {
      const settled = new Set<string>();
      const followed: Followed = { settled, steppedMs: 0, broughtBack: 0, faults: [] };
      const one = async ([partition, reading]: [string, ClockReading]) => {
        try {
          if (await followOne(partition, reading, followed)) settled.add(partition);
        } catch (error) {
          followed.faults.push(error);
        }
      };
      await Promise.all([...clocks].map(one));
      return followed;
    },
  };
}
