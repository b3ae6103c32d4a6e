import type { Service } from '@yardmaster/runtime';
import { within } from '@yardmaster/server';
import type { Worker } from 'bullmq';
import type { BullMq } from '../bullmq.js';
import type { Sweeper } from './sweeper.js';

/** Time between two ticks. The first tick after a deadline processes it. */
const TICK_MS = 500;

/**
 * A process that gets no tick from BullMQ for this long sweeps by its own timer, because timeouts may be 2 s late at
 * most.
 */
const OWN_SWEEP_AFTER_MS = 1_000;

/**
 * Share of TICK_MS by which a process' own timer is early or late, so that several schedulers do not all sweep at once.
 */
const JITTER = 0.2;

/** A process that gets no tick from BullMQ for this long checks whether the schedule has stopped. */
const REPAIR_AFTER_MS = 3_000;

/** A schedule whose next tick is further away than this, past or future, has stopped, or was made by a wrong clock. */
const STOPPED_MS = 2_000;

const NAME = 'sweeps';
const SCHEDULE = 'sweep';

/**
 * Create the ticks: one BullMQ job scheduler for all processes, where each tick is a sweep by one of them. BullMQ only
 * starts sweeps. A process that gets no tick sweeps by its own timer, for example while Redis is full and refuses
 * BullMQ's writes. It repairs the schedule if that has stopped, for example when BullMQ's keys are gone.
 */
export function createTicks(bullMq: BullMq, sweeper: Sweeper): Service {
  const queue = bullMq.queue(NAME);
  let worker: Worker | undefined;
  let timer: NodeJS.Timeout | undefined;
  let tickedAt = performance.now();
  let isRepairing = false;

  async function schedule(): Promise<void> {
    await queue.upsertJobScheduler(SCHEDULE, { every: TICK_MS }, { name: NAME });
  }

  async function repair(): Promise<void> {
    if (isRepairing) return;
    isRepairing = true;
    try {
      const { next } = (await queue.getJobScheduler(SCHEDULE)) ?? {};
      if (next !== undefined && Math.abs(next - Date.now()) < STOPPED_MS) return; // It ticks for other processes.
      await queue.removeJobScheduler(SCHEDULE);
      await schedule();
    } catch (error) {
      queue.emit('error', error as Error);
    } finally {
      isRepairing = false;
    }
  }

  async function tick(): Promise<void> {
    tickedAt = performance.now();
    await sweeper.runOnce();
  }

  function checkTicks(): void {
    const silentMs = performance.now() - tickedAt;
    if (silentMs >= OWN_SWEEP_AFTER_MS) sweeper.runOnce().catch(() => undefined); // The sweeper logs it.
    if (silentMs >= REPAIR_AFTER_MS) void repair();
    startTimer();
  }

  function startTimer(): void {
    timer = setTimeout(checkTicks, TICK_MS * (1 - JITTER + 2 * JITTER * Math.random()));
  }

  return {
    name: 'ticks',
    async start() {
      worker = bullMq.worker(NAME, tick);
      startTimer();
      // Redis may become unavailable right now; `repair` then repairs the schedule.
      schedule().catch((error) => queue.emit('error', error));
    },
    async stop(withinMs) {
      clearTimeout(timer);
      if (worker !== undefined) await within(withinMs, worker.close());
    },
  };
}
