import { YardmasterError } from '@yardmaster/protocol';
import pLimit from 'p-limit';
import type { Store } from '../store.js';
import { type ClockReading, markStep, reopenWindows, stepBetween } from './clock-steps.js';

/**
 * How long a new watch lets no deadline be processed. It cannot see a step just before its start; another scheduler, which
 * reads the clock at least every 1.5 s, marks that step in this time.
 */
const SETTLE_MS = 2_000;

/** Number of partitions whose windows are restarted at once. */
const WALKS_AT_ONCE = 4;

/** Result of following the clocks. */
export interface Followed {
  /** Partitions in which deadlines can be processed, up to the time of the reading. */
  settled: ReadonlySet<string>;
  /**
   * Step of the clock in milliseconds, negative for a step back; 0 for none. In a cluster, the step of one of the
   * partitions.
   */
  steppedMs: number;
  /** Number of windows restarted because the clock had stepped back. */
  broughtBack: number;
  /** Errors. Whatever failed is retried at the next reading. */
  faults: unknown[];
}

/**
 * A watch of the clock of Redis against the monotonic clock of this process, so that a step neither closes windows early
 * nor prolongs them.
 *
 * Only deadlines that were due at a reading are processed, because a later step cannot have caused them. When a reading
 * shows a step, it is handled before any other deadline: a step forward is marked (`markStep`); after a step back,
 * windows are restarted (`reopenWindows`).
 */
export interface ClockWatch {
  follow(clocks: ReadonlyMap<string, ClockReading>): Promise<Followed>;
}

/** The watch of a manual clock, whose steps are intentional and close windows. */
const NO_STEPS: ClockWatch = {
  follow: async (clocks) => ({ settled: new Set(clocks.keys()), steppedMs: 0, broughtBack: 0, faults: [] }),
};

/**
 * Create a watch of the clock of Redis.
 *
 * @param settleMs how long it lets no deadline be processed at first, in milliseconds. Default 2,000
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
      faults.push(error); // A key has a wrong type, which fsck reports. The sweep of the partition must still continue.
      return 0;
    }
  }

  async function followOne(partition: string, reading: ClockReading, followed: Followed): Promise<boolean> {
    const before = known.get(partition);
    const steppedMs = before === undefined ? 0 : stepBetween(before.reading, reading);
    if (before !== undefined && steppedMs > 0) await markStep(store, partition, before.reading.redisMs);
    // The first reading also counts: the clock may have stepped back while no scheduler was running, or a scheduler may
    // have stopped while it handled the step.
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
