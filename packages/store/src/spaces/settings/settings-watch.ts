import type { SharedSubscriptions } from '@yardmaster/redis';
import { PARTITION_TAGS } from '../../partition.js';
import type { Store } from '../../store.js';
import { loadSettings, refreshSettings } from './settings.js';

/**
 * How often a process looks for changes whose message was lost, milliseconds. Settings are at most 5 s old in a process
 * whose Redis responds: this, and the time of the command.
 */
const EVERY_MS = 4_000;

/** Keeps the settings of spaces that a process knows up to date. */
export interface SettingsWatch {
  /** Read all settings, and watch them from now on. Those of a primary that is away follow once it is back. */
  start(): Promise<void>;
  stop(): void;
}

/** Create the watch of a process. While Redis is away, the process keeps the settings that it knows. */
export function createSettingsWatch(
  store: Store,
  subscriptions: SharedSubscriptions,
  everyMs = EVERY_MS,
): SettingsWatch {
  let timer: NodeJS.Timeout | undefined;
  // A failed read is made up for by the next refresh.
  const refresh = () => refreshSettings(store).catch(() => undefined);
  return {
    async start() {
      await refresh();
      subscriptions.add(store.keys.settingsChannel, {
        message: (partition) => {
          if (PARTITION_TAGS.includes(partition)) loadSettings(store, partition).catch(() => undefined);
        },
        lost: () => undefined,
        subscribed: refresh,
      });
      timer = setInterval(refresh, everyMs);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}
