import { every, type Logger, type Service } from '@yardmaster/runtime';
import { flushHistory, isOutage, type SpaceHistoryCounter, type Store } from '@yardmaster/store';

/** Time between two flushes: what a process that crashes may lose, milliseconds. */
const EVERY_MS = 5_000;

/** How often the number of cells is looked at, milliseconds. */
const LOOK_EVERY_MS = 1_000;

/** Pairs of space and name from which on a flush comes early. */
const MANY_CELLS = 2_000;

/**
 * Create the service that adds what this process has counted to the histories in Redis: every 5 seconds, earlier when
 * there is much of it, and once more at its stop.
 */
export function createHistoryFlush(store: Store, counter: SpaceHistoryCounter, log: Logger): Service {
  let flushedAt = performance.now();
  const isDue = () => performance.now() - flushedAt >= EVERY_MS || counter.cells > MANY_CELLS;

  async function flush(): Promise<void> {
    flushedAt = performance.now();
    const { hasLost, faults } = await flushHistory(store, counter);
    if (hasLost) log.warn('counts of job histories are lost, because too many wait for redis');
    const bug = faults.find((fault) => !isOutage(fault));
    if (bug !== undefined) log.error({ err: bug }, 'counts of job histories were not added');
  }

  const run = () => (isDue() ? flush() : undefined);
  return every({ name: 'history flush', ms: LOOK_EVERY_MS, run, atStop: flush });
}
