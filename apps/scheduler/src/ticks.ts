import { Queue, Worker } from 'bullmq';
import { ALARM, type Bull, EVENTS, WORKER } from './bull.js';
import type { Sweeper } from './sweeper.js';

/** Between two ticks. A time-out is met by the first tick after it. */
const TICK_MS = 500;

/** A process to which BullMQ has brought no tick for so long sweeps by its own timer: time-outs may be 2 s late at most. */
const PATIENCE_MS = 1_000;

/** The own timer is up to so much of TICK_MS early or late, so that several schedulers do not all sweep at one moment. */
const JITTER = 0.2;

/** A process to which BullMQ has brought no tick for so long looks whether the schedule has stopped. */
const REPAIR_AFTER_MS = 3_000;

/** A schedule whose next tick is further away than this, past or future, has stopped, or was made by a clock that is off. */
const OFF_MS = 2_000;

const NAME = 'sweeps';
const SCHEDULE = 'sweep';

/**
 * Make the ticks: one BullMQ job scheduler for all processes, each tick a sweep by one of them. BullMQ is the alarm
 * clock and no more: a process to which no tick comes, as when Redis is full and refuses what BullMQ writes, sweeps by
 * its own timer. It repairs the schedule if that has stopped, as when BullMQ's keys are gone.
 */
export function createTicks(bull: Bull, sweeper: Sweeper) {
  const { connection, prefix } = bull;
  const queue = bull.watch(new Queue(NAME, { connection, prefix, ...EVENTS }));
  let worker: Worker | null = null;
  let timer: NodeJS.Timeout | undefined;
  let tickedAt = performance.now();
  let repairing = false;

  async function schedule(): Promise<void> {
    await queue.upsertJobScheduler(SCHEDULE, { every: TICK_MS }, { name: NAME, opts: ALARM });
  }

  async function repair(): Promise<void> {
    if (repairing) return;
    repairing = true;
    try {
      const { next } = (await queue.getJobScheduler(SCHEDULE)) ?? {};
      if (next !== undefined && Math.abs(next - Date.now()) < OFF_MS) return; // It ticks, for others.
      await queue.removeJobScheduler(SCHEDULE);
      await schedule();
    } catch (error) {
      queue.emit('error', error as Error);
    } finally {
      repairing = false;
    }
  }

  async function tick(): Promise<void> {
    tickedAt = performance.now();
    await sweeper.sweep();
  }

  function watch(): void {
    const silentMs = performance.now() - tickedAt;
    if (silentMs >= PATIENCE_MS) sweeper.sweep().catch(() => undefined); // The sweeper tells.
    if (silentMs >= REPAIR_AFTER_MS) void repair();
    watchOn();
  }

  function watchOn(): void {
    timer = setTimeout(watch, TICK_MS * (1 - JITTER + 2 * JITTER * Math.random()));
  }

  return {
    start(): void {
      worker = bull.watch(new Worker(NAME, tick, { connection, prefix, ...WORKER }));
      watchOn();
      // Redis may go away just now: `repair` is there to mend that.
      schedule().catch((error) => queue.emit('error', error));
    },
    async stop(): Promise<void> {
      clearTimeout(timer);
      await worker?.close();
      await queue.close();
    },
  };
}
