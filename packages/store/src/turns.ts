import { YardmasterError } from '@yardmaster/protocol';
import { FairQueue } from './fair-queue.js';

/** What work knows whose turn it is. */
export interface Turn {
  /** By when to be done, as `performance.now()` tells the time. */
  until: number;
  /**
   * To be called between the steps of long work.
   *
   * @throws OVERLOADED once it has taken so long, waiting included, that nobody waits for it any more
   */
  check(): void;
}

/**
 * Does some work when its turn has come; or not at all when that comes too late.
 *
 * @param until when its caller will not wait any longer, as `performance.now()` tells the time; left out, only patience ends
 */
export type InTurn = <T>(owner: string, work: (turn: Turn) => Promise<T>, until?: number) => Promise<T>;

const tooLate = () => new YardmasterError('OVERLOADED', 'Too many long reads are waiting; send the request again');

/**
 * Let so many do their work at once. Owners have their turns one after the other, and one who is at work already comes
 * after those who are not. Work that nobody waits for any more is not begun: a burst of requests would else keep those
 * busy who came long after it.
 *
 * @param patienceMs how long a turn and what is done in it may take, waiting included
 */
export function turns(atOnce: number, patienceMs: number): InTurn {
  const waiting = new FairQueue<() => Promise<void>>();
  const working = new Map<string, number>();
  let free = atOnce;

  function goOn(): void {
    while (free > 0) {
      const next = waiting.shift((owner) => working.has(owner));
      if (next === undefined) return;
      void work(next.owner, next.item);
    }
  }

  async function work(owner: string, item: () => Promise<void>): Promise<void> {
    free--;
    working.set(owner, (working.get(owner) ?? 0) + 1);
    await item();
    const left = (working.get(owner) as number) - 1;
    if (left > 0) working.set(owner, left);
    else working.delete(owner);
    free++;
    goOn();
  }

  return (owner, act, callerWaitsUntil = Number.POSITIVE_INFINITY) =>
    new Promise((resolve, reject) => {
      const now = performance.now();
      const until = Math.min(callerWaitsUntil, now + patienceMs);
      const timer = setTimeout(() => reject(tooLate()), Math.max(0, until - now)).unref();
      const check = () => {
        if (performance.now() > until) throw tooLate();
      };
      waiting.push(owner, async () => {
        try {
          check();
          clearTimeout(timer);
          resolve(await act({ until, check }));
        } catch (error) {
          reject(error);
        }
      });
      goOn();
    });
}
