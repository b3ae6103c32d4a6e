import { YardmasterError } from '@yardmaster/protocol';
import pLimit from 'p-limit';

/** As long as anybody waits for an answer: the budget of a request. */
const PATIENCE_MS = 1_800;

/** What somebody whose turn it is knows of it. */
export interface Turn {
  /**
   * To be called between the steps of long work.
   *
   * @throws UNAVAILABLE once it has taken so long, waiting included, that nobody waits for it any more
   */
  check(): void;
}

/** Does some work when its turn has come; or not at all when that comes too late. */
export type InTurn = <T>(work: (turn: Turn) => Promise<T>) => Promise<T>;

/**
 * Let so many do their work at once, in the order in which they came. Work that nobody waits for any more is not begun:
 * a burst of requests would else keep those busy who came long after it.
 */
export function turns(atOnce: number): InTurn {
  const limit = pLimit(atOnce);
  return (work) => {
    const giveUpAt = performance.now() + PATIENCE_MS;
    const check = () => {
      if (performance.now() > giveUpAt) throw new YardmasterError('UNAVAILABLE');
    };
    return limit(() => {
      check();
      return work({ check });
    });
  };
}
