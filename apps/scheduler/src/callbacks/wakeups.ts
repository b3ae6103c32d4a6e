import type { Service } from '@yardmaster/runtime';
import { within } from '@yardmaster/server';
import type { Worker } from 'bullmq';
import type { BullMq } from '../bullmq.js';
import type { HostCallback } from './dispatcher.js';

const NAME = 'callbacks';

/** Wake-ups that a process handles at once. */
const CONCURRENCY = 50;

/** Return the id of the one wake-up of a pending callback, so that setting it again changes nothing. */
const idOf = ({ jobId, series }: HostCallback) => `${jobId}-${series}`;

/**
 * Wake-ups for callbacks, in BullMQ: which callback is to be attempted again, and when. All of them may be lost, because
 * the relay looks again at the pending callbacks in Redis' `callbacks`.
 */
export interface Wakeups extends Service {
  /** Wake some scheduler for a callback after a delay, in milliseconds. */
  schedule(callback: HostCallback, delayMs: number): Promise<void>;
}

/** Create the wake-ups. Between start and stop, this process passes callbacks to `onDue` when their wake-ups are due. */
export function createWakeups(bullMq: BullMq, onDue: (callback: HostCallback) => void): Wakeups {
  const queue = bullMq.queue<HostCallback>(NAME);
  let worker: Worker<HostCallback> | undefined;

  return {
    name: 'callback wake-ups',
    async schedule(callback, delayMs) {
      await queue.add(NAME, callback, { jobId: idOf(callback), delay: delayMs });
    },
    async start() {
      worker = bullMq.worker<HostCallback>(NAME, async () => undefined, { concurrency: CONCURRENCY });
      // Pass the callback on only after BullMQ has removed its wake-up, because the attempt may end at once and set the
      // same wake-up again.
      worker.on('completed', ({ data }) => onDue(data));
    },
    async stop(withinMs) {
      if (worker !== undefined) await within(withinMs, worker.close());
    },
  };
}
