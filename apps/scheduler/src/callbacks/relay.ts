import type { Logger } from '@yardmaster/runtime';
import { type PendingCallback, relayCallbacks, type Store } from '@yardmaster/store';
import type { CallbackDispatcher } from './dispatcher.js';
import type { Wakeups } from './wakeups.js';

/** Reads pending callbacks from Redis and passes them on. */
export interface Relay {
  /** Look at a partition soon. If the relay is looking at it now, it looks again afterwards. */
  wake(partition: string): void;
}

export interface RelayOptions {
  store: Store;
  wakeups: Wakeups;
  dispatcher: CallbackDispatcher;
  log: Logger;
}

/** Create the relay. Callbacks that it fails to relay are looked at again, see relayCallbacks. */
export function createRelay({ store, wakeups, dispatcher, log }: RelayOptions): Relay {
  const running = new Set<string>();
  const again = new Set<string>();

  /** Dispatch callbacks in this process, without BullMQ. */
  async function sendFromHere(callbacks: readonly PendingCallback[]): Promise<void> {
    for (const callback of callbacks) {
      const host = await dispatcher.hostOf(callback);
      if (host !== null && dispatcher.hasRoom(host)) dispatcher.dispatch(callback, host);
    }
  }

  async function relay(partition: string): Promise<void> {
    while (again.delete(partition)) {
      for (let isMore = true; isMore; ) {
        const relayed = await relayCallbacks(store, partition);
        // Wake-ups failed for these: they were refused by a full Redis, lost, or set by a clock that is ahead. A
        // wake-up that is only partly lost would prevent a second one from being set.
        await sendFromHere(relayed.overdue);
        if (relayed.callbacks.length > 0) await wakeups.schedule(relayed.callbacks);
        isMore = relayed.isMore;
      }
    }
  }

  return {
    wake(partition) {
      again.add(partition);
      if (running.has(partition)) return;
      running.add(partition);
      relay(partition)
        .catch((err) => log.debug({ err, partition }, 'callbacks not relayed'))
        .finally(() => running.delete(partition));
    },
  };
}
