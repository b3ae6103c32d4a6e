import type { Redis } from 'ioredis';

/** What hears a channel. */
export interface Listener {
  /** A message came. */
  message(text: string): void;
  /** Messages from now on may be missed, until `subscribed` is called again. */
  lost(): void;
  /** Subscribed, for the first time or again: every message from now on comes. */
  subscribed(): void;
}

/** Channels in one SUBSCRIBE after a lost connection: some 30 KB of command. */
const CHANNELS_AT_ONCE = 500;

/**
 * The channels that this process hears, all over one connection, one listener each.
 *
 * Redis' pub/sub loses without a word what is published while a connection is down. So every channel is subscribed
 * again on each new socket, and its listener told of both ends of the gap; what to do about it only the listener
 * knows. ioredis' own resubscription must be off: it tells nobody, and drops the promise that may fail.
 */
export class Subscriptions {
  readonly #redis: Redis;
  readonly #listeners = new Map<string, Listener>();
  /** Channels that Redis has confirmed on the socket of now. */
  readonly #confirmed = new Set<string>();

  /** @param redis a connection made for subscribing; it stays the caller's to open and close */
  constructor(redis: Redis) {
    this.#redis = redis;
    redis.on('message', (channel: string, text: string) => this.#listeners.get(channel)?.message(text));
    redis.on('ready', () => this.#subscribeAll());
    redis.on('close', () => this.#lose());
  }

  /** Hear a channel from now on. While there is no connection, it is subscribed as soon as there is one. */
  add(channel: string, listener: Listener): void {
    if (this.#listeners.has(channel)) throw new Error(`channel ${channel} has a listener`);
    this.#listeners.set(channel, listener);
    if (this.#redis.status === 'ready') void this.#subscribe([channel]);
  }

  /** Hear a channel no more. */
  remove(channel: string): void {
    this.#listeners.delete(channel);
    this.#confirmed.delete(channel);
    // On a socket that breaks, the subscription ends with it.
    if (this.#redis.status === 'ready') this.#redis.unsubscribe(channel).catch(() => undefined);
  }

  /** Whether every message of a channel comes just now. */
  hears(channel: string): boolean {
    return this.#confirmed.has(channel);
  }

  async #subscribe(channels: string[]): Promise<void> {
    const { stream } = this.#redis;
    // By listener, too: one that took the place of another meanwhile has a confirmation of its own coming.
    const asked = channels.map((channel) => [channel, this.#listeners.get(channel)] as const);
    try {
      await this.#redis.subscribe(...channels);
    } catch {
      return; // The socket broke, which the next `ready` mends, or hangs, which its watch finds.
    }
    if (this.#redis.stream !== stream) return;
    for (const [channel, listener] of asked) {
      if (listener !== this.#listeners.get(channel) || this.#confirmed.has(channel)) continue;
      this.#confirmed.add(channel);
      listener?.subscribed();
    }
  }

  #subscribeAll(): void {
    const channels = [...this.#listeners.keys()];
    for (let i = 0; i < channels.length; i += CHANNELS_AT_ONCE) {
      void this.#subscribe(channels.slice(i, i + CHANNELS_AT_ONCE));
    }
  }

  #lose(): void {
    const lost = [...this.#confirmed];
    this.#confirmed.clear();
    for (const channel of lost) this.#listeners.get(channel)?.lost();
  }
}
