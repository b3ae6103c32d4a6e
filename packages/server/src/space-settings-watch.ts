import type { SharedSubscriptions } from '@yardmaster/redis';
import { every, type Service } from '@yardmaster/runtime';
import { loadSettings, PARTITION_TAGS, refreshSettings, type Store } from '@yardmaster/store';

/**
 * Time between two checks for changes whose message was lost, milliseconds. Together with the time of the command, settings
 * are at most 5 s old as long as Redis responds.
 */
const EVERY_MS = 4_000;

/**
 * Create the service that keeps the settings of spaces up to date in this process. Starting reads them all, except those of
 * an unavailable primary, which follow later. While Redis is unavailable, the process keeps the settings that it has.
 */
export function watchSpaceSettings(store: Store, subscriptions: SharedSubscriptions): Service {
  // The next refresh makes up for a failed read.
  const refresh = () => refreshSettings(store).catch(() => undefined);
  const repeated = every({ name: 'space settings', ms: EVERY_MS, run: refresh });
  return {
    ...repeated,
    async start() {
      await refresh();
      subscriptions.add(store.keys.settingsChannel, {
        message: (partition) => {
          if (PARTITION_TAGS.includes(partition)) loadSettings(store, partition).catch(() => undefined);
        },
        lost: () => undefined,
        subscribed: refresh,
      });
      await repeated.start();
    },
  };
}
