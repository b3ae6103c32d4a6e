import type { Backend } from '@yardmaster/backend';
import type { Logger } from '@yardmaster/runtime';
import { removeExpiredKeys } from '@yardmaster/store';

const EVERY_MS = 3_600_000;

/** Make what removes expired API keys, at the start and then hourly. Any number of processes may do it at once. */
export function createKeyRemoval({ store }: Backend, log: Logger) {
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
