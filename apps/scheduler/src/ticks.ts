import { compose, every, type Service } from '@yardmaster/runtime';
import { rejectAfter } from '@yardmaster/server';
import type { Worker } from 'bullmq';
import type { BullMq } from './bullmq.js';

const QUEUE = 'ticks';

/** Time between two checks that ticks arrive, milliseconds. */
const LOOK_MS = 500;

/** How long a process goes without a tick from BullMQ before it checks for stopped schedules, milliseconds. */
const REPAIR_AFTER_MS = 3_000;

/** A schedule whose next tick is this late, or this much too far ahead, has stopped or was created by a wrong clock. */
const STOPPED_MS = 1_500;

/** Periodic work of the schedulers: at each tick, one of them does it. */
export interface RepeatedWork {
  /** ID of its job scheduler in BullMQ. */
  name: string;
  everyMs: number;
  /** Do the work once. Reports its own failures. */
  run: () => Promise<void>;
  /** How long a process goes without any tick before it does the work anyway, milliseconds. Default: never. */
  withoutTicksAfterMs?: number;
}

/**
 * Create the ticks of periodic work, with one BullMQ job scheduler for each, shared by all processes. BullMQ only provides
 * the timing, because all of its keys may be lost, and a full Redis refuses its writes. So a process that gets no ticks does
 * urgent work on its own, and repairs schedules that have stopped.
 */
export function createTicks(bullMq: BullMq, works: readonly RepeatedWork[]): Service {
  const queue = bullMq.queue(QUEUE);
  let tickedAt = performance.now();

  async function repair(): Promise<void> {
    for (const { name, everyMs } of works) {
      const { next } = (await queue.getJobScheduler(name)) ?? {};
      const inMs = (next ?? Number.NaN) - Date.now();
      if (inMs > -STOPPED_MS && inMs < everyMs + STOPPED_MS) continue; // Other processes get its ticks.
      await queue.removeJobScheduler(name);
      await queue.upsertJobScheduler(name, { every: everyMs }, { name });
    }
  }

  /** Report that the schedules could not be repaired because Redis is unavailable. A later check repairs them. */
  const report = (error: unknown) => void queue.emit('error', error as Error);

  async function look(): Promise<void> {
    const silentMs = performance.now() - tickedAt;
    for (const { run, withoutTicksAfterMs = Number.POSITIVE_INFINITY } of works)
      if (silentMs >= withoutTicksAfterMs) run().catch(() => undefined);
    if (silentMs >= REPAIR_AFTER_MS) await repair().catch(report);
  }

  let worker: Worker | undefined;
  const ticking: Service = {
    name: 'ticks',
    async start() {
      worker = bullMq.worker(QUEUE, async (job) => {
        tickedAt = performance.now();
        await works.find(({ name }) => name === job.name)?.run();
      });
      repair().catch(report);
    },
    async stop(withinMs) {
      if (worker !== undefined) await rejectAfter(withinMs, worker.close());
    },
  };
  return compose('ticks', [[every({ name: 'look for ticks', ms: LOOK_MS, run: look })], [ticking]]);
}
