import type { Logger } from '@yardmaster/runtime';
import type { ServerContext } from '@yardmaster/server';
import { removeExpiredKeys } from '@yardmaster/store';

const EVERY_MS = 3_600_000;

/**
 * Create the service that removes expired API keys, at the start and then hourly. Any number of processes may run it at
 * once.
 */
export function createKeyRemoval({ store }: ServerContext, log: Logger) {
  let timer: NodeJS.Timeout | undefined;

  async function remove(): Promise<void> {
    try {
      const removed = await removeExpiredKeys(store);
      if (removed > 0) log.info({ removed }, 'expired API keys removed');
    } catch (err) {
      log.warn({ err }, 'expired API keys not removed');
    }
  }

  return {
    start(): void {
      timer = setInterval(remove, EVERY_MS);
      void remove();
    },
    stop: () => clearInterval(timer),
  };
}
