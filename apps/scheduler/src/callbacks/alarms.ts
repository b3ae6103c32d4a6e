import type { Debt } from '@yardmaster/store';
import { DelayedError, type Job, Queue, Worker } from 'bullmq';
import { ALARM, type Bull, EVENTS, WORKER } from '../bull.js';
import type { Desk } from './desk.js';

/** A debt that finds no room comes again after this, then after twice the time, and so on… */
const NO_ROOM_MS = 5_000;

/** …but after this at the latest. */
const NO_ROOM_AT_MOST_MS = 300_000;

const NAME = 'callbacks';

/** One alarm for each debt: setting it again changes nothing. */
const idOf = ({ jobId, round }: Debt) => `${jobId}-${round}`;

/**
 * Alarms for callbacks, in BullMQ: who is to attempt what, and when. They hold nothing but whose callback it is, and
 * may all be lost: the debts in Redis' `callbacks` are looked at again.
 */
export interface Alarms {
  /** Have debts handed to some scheduler's desk after a time, in milliseconds. */
  set(debts: readonly Debt[], delayMs?: number): Promise<void>;
  /** Hand debts to this desk as their time comes. */
  ringAt(desk: Desk): void;
  /** Hand over no more. */
  silence(): Promise<void>;
  close(): Promise<void>;
}

/** Make the alarms. */
export function createAlarms(bull: Bull): Alarms {
  const { connection, prefix } = bull;
  const queue = bull.watch(new Queue<Debt>(NAME, { connection, prefix, ...EVENTS }));
  let worker: Worker<Debt> | null = null;

  return {
    async set(debts, delayMs = 0) {
      await queue.addBulk(
        debts.map((debt) => ({ name: NAME, data: debt, opts: { ...ALARM, jobId: idOf(debt), delay: delayMs } })),
      );
    },
    ringAt(desk) {
      /** Returns whose turn it is, or puts the alarm off. */
      async function ring(job: Job<Debt>, token?: string): Promise<string | null> {
        const host = await desk.hostOf(job.data);
        if (host === null || desk.hasRoom(host)) return host;
        const delay = Math.min(NO_ROOM_MS * 2 ** (job.attemptsStarted - 1), NO_ROOM_AT_MOST_MS);
        await job.moveToDelayed(Date.now() + delay * (0.75 + Math.random() / 2), token);
        throw new DelayedError();
      }
      worker = bull.watch(new Worker<Debt>(NAME, ring, { connection, prefix, concurrency: 50, ...WORKER }));
      // Only once BullMQ is rid of the alarm: the attempt may be over at once and set the same one anew.
      worker.on('completed', ({ data }, host: string | null) => {
        if (host !== null) desk.take(data, host);
      });
    },
    async silence() {
      await worker?.close();
    },
    async close() {
      await queue.close();
    },
  };
}
