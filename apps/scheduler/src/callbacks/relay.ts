import type { Listener, SharedSubscriptions } from '@yardmaster/redis';
import type { Logger, Service } from '@yardmaster/runtime';
import { rejectAfter } from '@yardmaster/server';
import { PARTITION_TAGS, relayCallbacks, type Store } from '@yardmaster/store';
import type { CallbackDispatcher } from './dispatcher.js';

/** Passes due callbacks from Redis to the dispatcher of this process. */
export interface Relay extends Service {
  /** Run for a partition soon. If the relay is already running for it, it runs again afterwards. */
  wake(partition: string): void;
  /**
   * Pass on the due callbacks of a partition for as long as the dispatcher has room.
   *
   * @throws UNAVAILABLE
   */
  runOnce(partition: string): Promise<void>;
}

export interface RelayOptions {
  store: Store;
  subscriptions: SharedSubscriptions;
  dispatcher: CallbackDispatcher;
  log: Logger;
}

/**
 * Create the relay. It runs for a partition when a script announces a due callback, or when a sweep finds one. A callback
 * that it fails to pass on, or for which there is no room, is relayed again; see relayCallbacks.
 */
export function createRelay({ store, subscriptions, dispatcher, log }: RelayOptions): Relay {
  const woken = new Set<string>();
  const running = new Map<string, Promise<void>>();
  const nothing = () => undefined; // The next sweep finds callbacks whose message was missed.
  const channels = PARTITION_TAGS.map((tag): [string, Listener] => [
    store.keys.pendingChannel(tag),
    { message: () => wake(tag), lost: nothing, subscribed: nothing },
  ]);

  async function runOnce(partition: string): Promise<void> {
    // While the dispatcher is full, callbacks stay due in Redis, where other schedulers find them.
    for (let isMore = true; isMore && !dispatcher.isFull(); ) {
      const relayed = await relayCallbacks(store, partition);
      for (const { url, ...callback } of [...relayed.overdue, ...relayed.callbacks]) {
        // Skip a broken record.
        if (URL.canParse(url)) dispatcher.dispatch({ ...callback, host: new URL(url).host });
      }
      isMore = relayed.isMore;
    }
  }

  async function run(partition: string): Promise<void> {
    try {
      while (woken.delete(partition)) await runOnce(partition);
    } catch (err) {
      log.debug({ err, partition }, 'callbacks not relayed');
    } finally {
      running.delete(partition);
    }
  }

  function wake(partition: string): void {
    woken.add(partition);
    if (!running.has(partition)) running.set(partition, run(partition));
  }

  return {
    name: 'callback relay',
    wake,
    runOnce,
    async start() {
      for (const [channel, listener] of channels) subscriptions.add(channel, listener);
    },
    async stop(withinMs) {
      for (const [channel, listener] of channels) subscriptions.remove(channel, listener);
      woken.clear();
      await rejectAfter(withinMs, Promise.all(running.values()));
    },
  };
}
