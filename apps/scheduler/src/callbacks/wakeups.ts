import type { PendingCallback } from '@yardmaster/store';
import { DelayedError, type Job, Queue, Worker } from 'bullmq';
import { ALARM, type BullMq, EVENTS, WORKER } from '../bullmq.js';
import type { CallbackDispatcher } from './dispatcher.js';

/** First delay of a wake-up whose callback finds no room in the dispatcher. The delay doubles each time. */
const NO_ROOM_MS = 5_000;

/** Longest delay of a wake-up whose callback finds no room. */
const NO_ROOM_AT_MOST_MS = 300_000;

const NAME = 'callbacks';

/** Return the id of the one wake-up of a pending callback, so that setting it again changes nothing. */
const idOf = ({ jobId, series: round }: PendingCallback) => `${jobId}-${round}`;

/**
 * Wake-ups for callbacks, in BullMQ: which callback is to be attempted, and when. They contain only which callback it
 * is. All of them may be lost, because the relay looks again at the pending callbacks in Redis' `callbacks`.
 */
export interface Wakeups {
  /** Have some scheduler dispatch callbacks after a delay, in milliseconds. */
  schedule(callbacks: readonly PendingCallback[], delayMs?: number): Promise<void>;
  /** Pass callbacks to this dispatcher when their wake-ups are due. */
  start(dispatcher: CallbackDispatcher): void;
  /** Stop passing callbacks to the dispatcher. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** Create the wake-ups. */
export function createWakeups(bullMq: BullMq): Wakeups {
  const { connection, prefix } = bullMq;
  const queue = bullMq.watch(new Queue<PendingCallback>(NAME, { connection, prefix, ...EVENTS }));
  let worker: Worker<PendingCallback> | null = null;

  return {
    async schedule(callbacks, delayMs = 0) {
      await queue.addBulk(
        callbacks.map((callback) => ({
          name: NAME,
          data: callback,
          opts: { ...ALARM, jobId: idOf(callback), delay: delayMs },
        })),
      );
    },
    start(dispatcher) {
      /** Return the host for which to dispatch the callback, or postpone the wake-up when there is no room. */
      async function ring(job: Job<PendingCallback>, token?: string): Promise<string | null> {
        const host = await dispatcher.hostOf(job.data);
        if (host === null || dispatcher.hasRoom(host)) return host;
        const delay = Math.min(NO_ROOM_MS * 2 ** (job.attemptsStarted - 1), NO_ROOM_AT_MOST_MS);
        await job.moveToDelayed(Date.now() + delay * (0.75 + Math.random() / 2), token);
        throw new DelayedError();
      }
      worker = bullMq.watch(
        new Worker<PendingCallback>(NAME, ring, { connection, prefix, concurrency: 50, ...WORKER }),
      );
      // Dispatch only after BullMQ has removed the wake-up, because the attempt may end at once and set the same
      // wake-up again.
      worker.on('completed', ({ data }, host: string | null) => {
        if (host !== null) dispatcher.dispatch(data, host);
      });
    },
    async stop() {
      await worker?.close();
    },
    async close() {
      await queue.close();
    },
  };
}
