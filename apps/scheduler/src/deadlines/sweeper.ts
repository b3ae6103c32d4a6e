import type { Logger } from '@yardmaster/runtime';
import type { ServerContext } from '@yardmaster/server';
import { type ClockLook, createClockWatch, expireDue, findDue } from '@yardmaster/store';
import pLimit from 'p-limit';
import { sweepMetrics } from './metrics.js';

/** A sweep that takes longer than this checks again what has become due. */
const LOOK_AGAIN_MS = 500;

/**
 * Partitions in which a step is done at once. One after the other, the steps of a sweep would add up their round trips,
 * so that the last ones would be late with a Redis that is far away or slow. All at once, they would keep Redis busy
 * for as long.
 */
const AT_ONCE = 4;

type Clocks = ReadonlyMap<string, ClockLook>;

interface Round {
  /** A look at Redis' clock; what is due later waits for the next look. */
  clocks: Clocks;
  /** List to which errors are added. */
  faults: unknown[];
  /** `performance.now()` from which on a round ends at the next fault. */
  until: number;
}

export interface Sweeper {
  /** Process everything that is due now. A call during a sweep waits for the end of that sweep. */
  sweep(): Promise<void>;
  /** Set the function to call with each partition in which a sweep finds pending callbacks. */
  onCallbacksPending(wake: (partition: string) => void): void;
  /** Milliseconds since a sweep last made progress. */
  idleMs(): number;
  /** Whether the sweeper processes deadlines yet: it must first have watched Redis' clock for long enough. */
  hasSettled(): boolean;
}

/**
 * Create the sweeper, which does the work of a tick. A sweep with a long backlog ends early when the process is about
 * to end.
 *
 * @param settleMs see createClockWatch
 */
export function createSweeper(
  { store, stopping, metrics }: Pick<ServerContext, 'store' | 'stopping' | 'metrics'>,
  log: Logger,
  settleMs?: number,
): Sweeper {
  let wake: (partition: string) => void = () => undefined;
  let gotOnAt = performance.now();
  let sweeping: Promise<void> | null = null;
  let isFailing = false;
  let hasSettled = false;
  const abreast = pLimit(AT_ONCE);
  const idleMs = () => performance.now() - gotOnAt;
  const counts = sweepMetrics(metrics, idleMs);
  const clockWatch = createClockWatch(store, settleMs);

  /** Handle a step of Redis' clock, if there was one, and return the partitions in which deadlines may be processed. */
  async function followClocks(clocks: Clocks, faults: unknown[]): Promise<ReadonlySet<string>> {
    const { settled, steppedMs, broughtBack, ...followed } = await clockWatch.follow(clocks);
    faults.push(...followed.faults);
    hasSettled = settled.size > 0;
    if (steppedMs !== 0) {
      counts.stepped(steppedMs > 0 ? 'forward' : 'back');
      log.warn({ steppedMs, broughtBack }, 'the clock of redis has stepped');
    } else if (broughtBack > 0) {
      log.warn({ broughtBack }, 'the clock of redis has stepped back while no scheduler was watching it');
    }
    return settled;
  }

  /** Do a step in a partition, and return whether more is due there. */
  async function step(partition: string, dueBefore: number): Promise<boolean> {
    const { isMore, broken, ...done } = await expireDue(store, partition, dueBefore);
    gotOnAt = performance.now();
    if (broken.length > 0) log.error({ partition, broken }, 'jobs whose records are broken');
    log.debug({ partition, ...done }, 'deadlines met');
    return isMore;
  }

  /**
   * Do a step in each partition, and return those in which more is due. A fault in one partition does not delay the
   * others. But after `until` a fault ends the round, because the same fault would take as long in the next partitions.
   * The next look leaves those out.
   */
  async function round(partitions: readonly string[], { clocks, faults, until }: Round): Promise<string[]> {
    const unfinished: string[] = [];
    let isOver = false;
    const stepIn = async (partition: string) => {
      if (isOver) return;
      try {
        if (await step(partition, clocks.get(partition)?.redisMs ?? 0)) unfinished.push(partition);
      } catch (error) {
        faults.push(error);
        isOver ||= performance.now() >= until;
      }
    };
    await Promise.all(partitions.map((partition) => abreast(stepIn, partition)));
    return unfinished;
  }

  async function sweepOnce(): Promise<void> {
    const faults: unknown[] = [];
    for (let left: string[] | null = null; left === null || left.length > 0; ) {
      if (stopping.aborted) return;
      const due = await findDue(store);
      due.callbacks.forEach(wake);
      faults.push(...due.faults);
      const settled = await followClocks(due.clocks, faults);
      gotOnAt = performance.now();
      // Work round by round, so that a long backlog in one partition delays no other, not even one that is not due yet.
      const lookAgain = gotOnAt + LOOK_AGAIN_MS;
      left = due.deadlines.filter((partition) => settled.has(partition));
      const how = { clocks: due.clocks, faults, until: lookAgain };
      while (left.length > 0 && performance.now() < lookAgain) left = await round(left, how);
      if (faults.length > 0) throw faults[0];
    }
  }

  async function sweepAndTell(): Promise<void> {
    try {
      await sweepOnce();
      if (isFailing) log.info('sweeping again');
      isFailing = false;
    } catch (err) {
      // Log one line for an outage, not one for each attempt.
      if (!isFailing) log.warn({ err }, 'sweep failed');
      isFailing = true;
      counts.failed();
      throw err;
    } finally {
      counts.swept();
    }
  }

  return {
    sweep() {
      sweeping ??= sweepAndTell().finally(() => {
        sweeping = null;
      });
      return sweeping;
    },
    onCallbacksPending(listener) {
      wake = listener;
    },
    idleMs,
    hasSettled: () => hasSettled,
  };
}
