import type { Listener, Subscriptions } from './single.js';

/** Channels that several parts of a process can subscribe to, each with its own listener. */
export interface SharedSubscriptions {
  /** Subscribe to a channel. If it is already subscribed, the listener's `subscribed` is called immediately. */
  add(channel: string, listener: Listener): void;
  /** Remove a listener. The channel of the last one is unsubscribed. */
  remove(channel: string, listener: Listener): void;
  /** Return whether all messages of a channel are currently received. */
  isSubscribed(channel: string): boolean;
}

/** Let several listeners share a channel, because streams and waiting calls of a process may need the same one. */
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

/** Listeners of a channel, almost always one. Changes create a new array, so that they don't affect an iteration. */
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

  /** Remove a listener. @returns whether it was present */
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
