import type { Logger, Service } from '@yardmaster/runtime';
import { within } from '@yardmaster/server';
import { removeExpiredKeys, type Store } from '@yardmaster/store';

const EVERY_MS = 3_600_000;

/** Removes expired API keys, when it starts and then hourly. Any number of processes may run it at once. */
export interface KeyRemoval extends Service {
  /**
   * Remove the keys that have expired by now. Never throws: a failure is logged, and the removal is tried again an hour
   * later.
   */
  runOnce(): Promise<void>;
}

/** Create the removal of expired API keys. */
export function createKeyRemoval(store: Store, log: Logger): KeyRemoval {
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();

  async function runOnce(): Promise<void> {
    try {
      const removed = await removeExpiredKeys(store);
      if (removed > 0) log.info({ removed }, 'expired API keys removed');
    } catch (err) {
      log.warn({ err }, 'expired API keys not removed');
    }
  }

  function run(): void {
    running = runOnce();
  }

  return {
    name: 'key removal',
    runOnce,
    async start() {
      timer = setInterval(run, EVERY_MS);
      run();
    },
    async stop(withinMs) {
      clearInterval(timer);
      await within(withinMs, running);
    },
  };
}
