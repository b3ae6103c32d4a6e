import type { Logger } from '@yardmaster/runtime';
import { flushHistory, isOutage, type Store } from '@yardmaster/store';

/** Time between two flushes: what a process that crashes may lose, milliseconds. */
const EVERY_MS = 5_000;

/** How often the number of cells is looked at, milliseconds. */
const LOOK_EVERY_MS = 1_000;

/** Pairs of space and name from which on a flush comes early. */
const MANY_CELLS = 2_000;

/** Adds what this process has counted to the histories in Redis, every 5 seconds, and once more at its stop. */
export interface HistoryFlush {
  start(): void;
  /** Flush, for so many milliseconds at most. */
  stop(withinMs: number): Promise<void>;
}

/** Create the flush of a process' counts. */
export function createHistoryFlush(store: Store, log: Logger): HistoryFlush {
  let timer: NodeJS.Timeout | undefined;
  let flushedAt = performance.now();
  let running: Promise<void> = Promise.resolve();
  let isRunning = false;

  async function flush(): Promise<void> {
    isRunning = true;
    flushedAt = performance.now();
    const { hasLost, faults } = await flushHistory(store);
    if (hasLost) log.warn('counts of job histories are lost, because too many wait for redis');
    const bug = faults.find((fault) => !isOutage(fault));
    if (bug !== undefined) log.error({ err: bug }, 'counts of job histories were not added');
    isRunning = false;
  }

  return {
    start() {
      timer = setInterval(() => {
        const isDue = performance.now() - flushedAt >= EVERY_MS || store.tally.cells > MANY_CELLS;
        if (isDue && !isRunning) running = flush();
      }, LOOK_EVERY_MS).unref();
    },
    async stop(withinMs) {
      clearInterval(timer);
      let timeout: NodeJS.Timeout | undefined;
      const tooLate = new Promise<void>((resolve) => {
        timeout = setTimeout(resolve, withinMs);
      });
      await Promise.race([running.then(flush), tooLate]);
      clearTimeout(timeout);
    },
  };
}
