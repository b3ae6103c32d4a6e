import { every, type Logger, type Service } from '@yardmaster/runtime';
import { flushHistory, isOutage, type SpaceHistoryCounter, type Store } from '@yardmaster/store';

/** Time between two flushes, milliseconds. A process that crashes loses the counts since the last one. */
const EVERY_MS = 5_000;

/** Time between two checks of the number of cells, milliseconds. */
const LOOK_EVERY_MS = 1_000;

/** Number of pairs of space and name that triggers an early flush. */
const MANY_CELLS = 2_000;

/**
 * Create the service that adds the counts of this process to the histories in Redis: every 5 seconds, earlier if there are
 * many, and once more when it stops.
 */
export function createHistoryFlush(store: Store, counter: SpaceHistoryCounter, log: Logger): Service {
  let flushedAt = performance.now();
  const isDue = () => performance.now() - flushedAt >= EVERY_MS || counter.cells > MANY_CELLS;

  async function flush(): Promise<void> {
    flushedAt = performance.now();
    const { hasLost, faults } = await flushHistory(store, counter);
    if (hasLost) log.warn('counts of job histories were lost because too many are waiting for redis');
    const bug = faults.find((fault) => !isOutage(fault));
    if (bug !== undefined) log.error({ err: bug }, 'counts of job histories were not added');
  }

  const run = () => (isDue() ? flush() : undefined);
  return every({ name: 'history flush', ms: LOOK_EVERY_MS, run, atStop: flush });
}
