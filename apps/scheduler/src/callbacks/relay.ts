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

  /** Without an alarm, so to this process' own desk. */
  async function sendFromHere(debts: readonly Debt[]): Promise<void> {
    for (const debt of debts) {
      const host = await desk.hostOf(debt);
      if (host !== null && desk.hasRoom(host)) desk.take(debt, host);
    }
  }

  /** By an alarm for any process: BullMQ gives it to one that is free. */
  async function handOn(debts: readonly Debt[]): Promise<void> {
    try {
      await alarms.set(debts);
    } catch (err) {
      // A full Redis refuses BullMQ's scripts, but not ours.
      log.debug({ err }, 'alarms refused, sending from here');
      await sendFromHere(debts);
    }
  }

  async function relay(partition: string): Promise<void> {
    while (again.delete(partition)) {
      for (let isMore = true; isMore; ) {
        const relayed = await relayCallbacks(store, partition);
        if (relayed.debts.length > 0) await handOn(relayed.debts);
        // An alarm that is lost in part, or was set by a clock that is ahead, would keep a second one from being set.
        await sendFromHere(relayed.overdue);
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
