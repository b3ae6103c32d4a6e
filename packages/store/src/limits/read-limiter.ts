import { YardmasterError } from '@yardmaster/protocol';
import { FairQueue, PerKey } from './fair-queue.js';

/** A read slot, passed to the work that runs in it. */
export interface ReadSlot {
  /** When the work must be done, by `performance.now()`. */
  until: number;
  /**
   * Check the time between the steps of long work.
   *
   * @throws OVERLOADED once the caller has stopped waiting
   */
  check(): void;
}

/**
 * Run work in a read slot, or refuse it when it gets no slot in time.
 *
 * @param until when the caller stops waiting, by `performance.now()`. Default: after `withinMs` of the limiter
 */
export type WithReadSlot = <T>(tenant: string, work: (slot: ReadSlot) => Promise<T>, until?: number) => Promise<T>;

const tooLate = () => new YardmasterError('OVERLOADED', 'Too many long reads are waiting; send the request again');

/**
 * Create a read limiter with `atOnce` slots. Tenants get slots in turn, and a tenant that already has a slot comes after
 * those that have none. Work is not started when its caller no longer waits, or a burst of requests would delay much
 * later callers.
 *
 * @param withinMs maximum time for the wait and the work together
 */
export function createReadLimiter(atOnce: number, withinMs: number): WithReadSlot {
  const waiting = new FairQueue<() => Promise<void>>();
  const working = new PerKey();
  let free = atOnce;

  function startWaiting(): void {
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
    startWaiting();
  }

  return (tenant, act, callerWaitsUntil = Number.POSITIVE_INFINITY) =>
    new Promise((resolve, reject) => {
      const now = performance.now();
      const until = Math.min(callerWaitsUntil, now + withinMs);
      let isRefused = false; // A timer can fire up to a millisecond before `until`.
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
      startWaiting();
    });
}
