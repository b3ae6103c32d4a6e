import type { Listener, Subscriptions } from './single.js';

/** Channels that several parts of a process may subscribe to, each with a listener of its own. */
export interface SharedSubscriptions {
  /** Subscribe to a channel. On a channel that is subscribed already, the listener's `subscribed` is called at once. */
  add(channel: string, listener: Listener): void;
  /** Remove a listener. Without listeners, the channel is unsubscribed. */
  remove(channel: string, listener: Listener): void;
  /** Whether every message of a channel is received at the moment. */
  isSubscribed(channel: string): boolean;
}

/** Let several listeners share a channel, because streams and waiting calls of one process may need the same. */
export function shareSubscriptions(subscriptions: Subscriptions): SharedSubscriptions {
  const channels = new Map<string, ListenerList>();
  return {
    add(channel, listener) {
      const known = channels.get(channel);
      if (known !== undefined) {
        known.add(listener);
        if (subscriptions.isSubscribed(channel)) listener.subscribed();
        return;
      }
      const list = new ListenerList(listener);
      channels.set(channel, list);
      subscriptions.add(channel, list);
    },
    remove(channel, listener) {
      const list = channels.get(channel);
      if (list === undefined || !list.remove(listener) || !list.isEmpty) return;
      channels.delete(channel);
      subscriptions.remove(channel);
    },
    isSubscribed: (channel) => subscriptions.isSubscribed(channel),
  };
}

/** Listeners of one channel, nearly always one. A change makes a new array, so that it does not affect a round. */
class ListenerList implements Listener {
  #all: readonly Listener[];

  constructor(first: Listener) {
    this.#all = [first];
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  add(listener: Listener): void {
    this.#all = [...this.#all, listener];
  }

  /** @returns whether it was there */
  remove(listener: Listener): boolean {
    const before = this.#all.length;
    this.#all = this.#all.filter((each) => each !== listener);
    return this.#all.length < before;
  }

  message(text: string): void {
    for (const listener of this.#all) listener.message(text);
  }

  lost(): void {
    for (const listener of this.#all) listener.lost();
  }

  subscribed(): void {
    for (const listener of this.#all) listener.subscribed();
  }
}
