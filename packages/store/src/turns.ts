import { YardmasterError } from '@yardmaster/protocol';
import pLimit from 'p-limit';

/** What somebody whose turn it is knows of it. */
export interface Turn {
  /** By when to be done, as `performance.now()` tells the time. */
  until: number;
  /**
   * To be called between the steps of long work.
   *
   * @throws UNAVAILABLE once it has taken so long, waiting included, that nobody waits for it any more
   */
  check(): void;
}

/** Does some work when its turn has come; or not at all when that comes too late. */
export type InTurn = <T>(work: (turn: Turn) => Promise<T>) => Promise<T>;

const tooLate = () => new YardmasterError('UNAVAILABLE', 'Too many long reads are waiting');

/**
 * Let so many do their work at once, in the order in which they came. Work that nobody waits for any more is not begun:
 * a burst of requests would else keep those busy who came long after it.
 *
 * @param patienceMs how long a turn and what is done in it may take, waiting included
 */
export function turns(atOnce: number, patienceMs: number): InTurn {
  const limit = pLimit(atOnce);
  return (work) =>
    new Promise((resolve, reject) => {
      const until = performance.now() + patienceMs;
      const timer = setTimeout(() => reject(tooLate()), patienceMs).unref();
      const check = () => {
        if (performance.now() > until) throw tooLate();
      };
      void limit(async () => {
        try {
          check();
          clearTimeout(timer);
          resolve(await work({ until, check }));
        } catch (error) {
          reject(error);
        }
      });
    });
}
