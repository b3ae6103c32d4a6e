import { YardmasterError } from '@yardmaster/protocol';
import { FairQueue, PerKey } from './fair-queue.js';

/** A read slot, as the work in it sees it. */
export interface ReadSlot {
  /** When the work must be done, as a value of `performance.now()`. */
  until: number;
  /**
   * Check the time between the steps of long work.
   *
   * @throws OVERLOADED once it has taken so long, waiting included, that no caller waits for it any more
   */
  check(): void;
}

/**
 * Runs work in a read slot, or refuses it when it gets no slot in time.
 *
 * @param until when its caller stops waiting, as a value of `performance.now()`; left out, only `withinMs` limits the
 *   wait
 */
export type WithReadSlot = <T>(tenant: string, work: (slot: ReadSlot) => Promise<T>, until?: number) => Promise<T>;

const tooLate = () => new YardmasterError('OVERLOADED', 'Too many long reads are waiting; send the request again');

/**
 * Create a read limiter that runs `atOnce` reads at once. Tenants get slots in turn, and a tenant that has a slot
 * already comes after those that have none. Work for which no caller waits any more is not begun, because otherwise a
 * burst of requests would delay callers that come long after it.
 *
 * @param withinMs how long the wait for a slot and the work in it may take together
 */
export function createReadLimiter(atOnce: number, withinMs: number): WithReadSlot {
  const waiting = new FairQueue<() => Promise<void>>();
  const working = new PerKey();
  let free = atOnce;

  function goOn(): void {
    while (free > 0) {
      const next = waiting.shift((tenant) => working.get(tenant) > 0);
      if (next === undefined) return;
      void work(next.tenant, next.item);
    }
  }

  async function work(tenant: string, item: () => Promise<void>): Promise<void> {
    free--;
    working.add(tenant, 1);
    await item();
    working.add(tenant, -1);
    free++;
    goOn();
  }

  return (tenant, act, callerWaitsUntil = Number.POSITIVE_INFINITY) =>
    new Promise((resolve, reject) => {
      const now = performance.now();
      const until = Math.min(callerWaitsUntil, now + withinMs);
      let isRefused = false; // A timer may fire up to a millisecond before `until`.
      const refuse = () => {
        isRefused = true;
        reject(tooLate());
      };
      const timer = setTimeout(refuse, Math.max(0, until - now)).unref();
      const check = () => {
        if (isRefused || performance.now() > until) throw tooLate();
      };
      waiting.push(tenant, async () => {
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
