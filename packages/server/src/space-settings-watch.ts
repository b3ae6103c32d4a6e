import type { SharedSubscriptions } from '@yardmaster/redis';
import { every, type Service } from '@yardmaster/runtime';
import { loadSettings, PARTITION_TAGS, refreshSettings, type Store } from '@yardmaster/store';

/**
 * How often a process looks for changes whose message was lost, milliseconds. Settings are at most 5 s old in a process
 * whose Redis responds: this, and the time of the command.
 */
const EVERY_MS = 4_000;

/**
 * Create the service that keeps the settings of spaces up to date in this process. Its start reads them all; those of a
 * primary that is away follow once it is back. While Redis is away, the process keeps the settings that it knows.
 */
export function watchSpaceSettings(store: Store, subscriptions: SharedSubscriptions): Service {
  // A failed read is made up for by the next refresh.
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
