import { Queue, Worker } from 'bullmq';
import { ALARM, type Bull, EVENTS, WORKER } from './bull.js';
import type { Sweeper } from './sweeper.js';

/** Between two ticks. A time-out is met by the first tick after it. */
const TICK_MS = 500;

/** A process that has not swept for so long does not wait for a tick any more. */
const PATIENCE_MS = 3_000;

/** A schedule whose next tick is further away than this, past or future, has stopped, or was made by a clock that is off. */
const OFF_MS = 2_000;

const NAME = 'sweeps';
const SCHEDULE = 'sweep';

/**
 * Make the ticks: one BullMQ job scheduler for all processes, each tick a sweep by one of them. BullMQ is the alarm
 * clock and no more: a process to which no tick comes sweeps by itself, and mends the schedule if that has stopped,
 * as when BullMQ's keys are gone.
 */
export function createTicks(bull: Bull, sweeper: Sweeper) {
  const { connection, prefix } = bull;
  const queue = bull.watch(new Queue(NAME, { connection, prefix, ...EVENTS }));
  let worker: Worker | null = null;
  let watchdog: NodeJS.Timeout | undefined;
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

  function watch(): void {
    if (sweeper.idleMs() < PATIENCE_MS) return;
    sweeper.sweep().catch(() => undefined); // The sweeper tells.
    void repair();
  }

  return {
    start(): void {
      worker = bull.watch(new Worker(NAME, () => sweeper.sweep(), { connection, prefix, ...WORKER }));
      watchdog = setInterval(watch, TICK_MS);
      // Redis may go away just now: the watchdog is there to mend that.
      schedule().catch((error) => queue.emit('error', error));
    },
    async stop(): Promise<void> {
      clearInterval(watchdog);
      await worker?.close();
      await queue.close();
    },
  };
}
