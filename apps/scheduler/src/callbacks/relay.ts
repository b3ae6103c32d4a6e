import type { Logger } from '@yardmaster/runtime';
import { type Debt, relayCallbacks, type Store } from '@yardmaster/store';

/** Takes what is owed from Redis and hands it on. */
export interface Relay {
  /** Look at a partition, soon; again when it is being looked at just now. */
  wake(partition: string): void;
}

/** Make the relay. What it fails to relay is looked at again, see relayCallbacks. */
export function createRelay(store: Store, handOn: (debts: readonly Debt[]) => Promise<void>, log: Logger): Relay {
  const running = new Set<string>();
  const again = new Set<string>();

  async function relay(partition: string): Promise<void> {
    while (again.delete(partition)) {
      for (let isMore = true; isMore; ) {
        const relayed = await relayCallbacks(store, partition);
        if (relayed.debts.length > 0) await handOn(relayed.debts);
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
