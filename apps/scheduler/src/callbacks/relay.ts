import type { Logger } from '@yardmaster/runtime';
import { type Debt, relayCallbacks, type Store } from '@yardmaster/store';
import type { Alarms } from './alarms.js';
import type { Desk } from './desk.js';

/** Takes what is owed from Redis and hands it on. */
export interface Relay {
  /** Look at a partition, soon; again when it is being looked at just now. */
  wake(partition: string): void;
}

export interface RelayOptions {
  store: Store;
  alarms: Alarms;
  desk: Desk;
  log: Logger;
}

/** Make the relay. What it fails to relay is looked at again, see relayCallbacks. */
export function createRelay({ store, alarms, desk, log }: RelayOptions): Relay {
  const running = new Set<string>();
  const again = new Set<string>();

  /** Past BullMQ, so to this process' own desk. */
  async function sendFromHere(debts: readonly Debt[]): Promise<void> {
    for (const debt of debts) {
      const host = await desk.hostOf(debt);
      if (host !== null && desk.hasRoom(host)) desk.take(debt, host);
    }
  }

  async function relay(partition: string): Promise<void> {
    while (again.delete(partition)) {
      for (let isMore = true; isMore; ) {
        const relayed = await relayCallbacks(store, partition);
        // Alarms did not do for these: refused by a full Redis, lost, or set by a clock that is ahead. One that is lost
        // only in part would keep a second one from being set.
        await sendFromHere(relayed.overdue);
        if (relayed.debts.length > 0) await alarms.set(relayed.debts);
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
