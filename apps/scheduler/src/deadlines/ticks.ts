import { Queue, Worker } from 'bullmq';
import { ALARM, type BullMq, EVENTS, WORKER } from '../bullmq.js';
import type { Sweeper } from './sweeper.js';

/** Time between two ticks. The first tick after a deadline processes it. */
const TICK_MS = 500;

/**
 * A process that gets no tick from BullMQ for this long sweeps by its own timer, because time-outs may be 2 s late at
 * most.
 */
const WAIT_MS = 1_000;

/**
 * Share of TICK_MS by which a process' own timer is early or late, so that several schedulers do not all sweep at once.
 */
const JITTER = 0.2;

/** A process that gets no tick from BullMQ for this long checks whether the schedule has stopped. */
const REPAIR_AFTER_MS = 3_000;

/** A schedule whose next tick is further away than this, past or future, has stopped, or was made by a wrong clock. */
const OFF_MS = 2_000;

const NAME = 'sweeps';
const SCHEDULE = 'sweep';

/**
 * Create the ticks: one BullMQ job scheduler for all processes, where each tick is a sweep by one of them. BullMQ only
 * starts sweeps. A process that gets no tick sweeps by its own timer, for example while Redis is full and refuses
 * BullMQ's writes. It repairs the schedule if that has stopped, for example when BullMQ's keys are gone.
 */
export function createTicks(bullMq: BullMq, sweeper: Sweeper) {
  const { connection, prefix } = bullMq;
  const queue = bullMq.watch(new Queue(NAME, { connection, prefix, ...EVENTS }));
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
      if (next !== undefined && Math.abs(next - Date.now()) < OFF_MS) return; // It ticks for other processes.
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
    if (silentMs >= WAIT_MS) sweeper.sweep().catch(() => undefined); // The sweeper tells.
    if (silentMs >= REPAIR_AFTER_MS) void repair();
    watchOn();
  }

  function watchOn(): void {
    timer = setTimeout(watch, TICK_MS * (1 - JITTER + 2 * JITTER * Math.random()));
  }

  return {
    start(): void {
      worker = bullMq.watch(new Worker(NAME, tick, { connection, prefix, ...WORKER }));
      watchOn();
      // Redis may become unavailable right now; `repair` then repairs the schedule.
      schedule().catch((error) => queue.emit('error', error));
    },
    async stop(): Promise<void> {
      clearTimeout(timer);
      await worker?.close();
      await queue.close();
    },
  };
}
