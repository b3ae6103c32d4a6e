import { setTimeout as delay } from 'node:timers/promises';
import { Cluster, type Redis } from 'ioredis';
import { type RedisClient, slotOf } from '../client.js';

/** Channels in one SUBSCRIBE after a lost connection: some 30 KB of command. */
const CHANNELS_AT_ONCE = 500;

/**
 * Return the presence channel of a channel, null for none: what is published on the channel is published only while its
 * presence channel has subscribers.
 */
export type PresenceOf = (channel: string) => string | null;

export interface SubscriptionOptions {
  /** Default: no channel has a presence channel. */
  presenceOf?: PresenceOf;
  /**
   * Only for a node of a cluster, which serves the channels of its slots. Checks after each subscription whether the
   * node gets all that is published. It is called again while it throws. When it returns false, the connection is closed
   * and opened again.
   */
  receivesAll?: () => Promise<boolean>;
}

/** Time before a subscription is checked again when a check could not be completed, milliseconds. */
const CHECK_AGAIN_MS = 200;

const isOutOfStep = ({ message }: Error) => message.startsWith('Command queue state error');

/**
 * Subscribes to channels over one connection.
 *
 * Redis' pub/sub loses, without an error, the messages that are published while a connection is down. So every channel
 * is subscribed again on each new socket. Its listener learns of both ends of the gap, because only the listener can
 * handle it. ioredis' own resubscription must be off, because it informs no listener, and drops the promise that may
 * fail.
 */
export class ConnectionSubscriptions implements Subscriptions {
  readonly #redis: Redis;
  readonly #receivesAll: (() => Promise<boolean>) | undefined;
  readonly #presenceOf: PresenceOf;
  /** How many channels need each presence channel. */
  readonly #presences = new Map<string, number>();
  readonly #listeners = new Map<string, Listener>();
  /** Channels that Redis has confirmed on the current socket. */
  readonly #confirmed = new Set<string>();

  /** @param redis a connection made for subscribing, which the caller opens and closes */
  constructor(redis: Redis, { presenceOf = () => null, receivesAll }: SubscriptionOptions = {}) {
    this.#redis = redis;
    this.#presenceOf = presenceOf;
    this.#receivesAll = receivesAll;
    redis.on(this.#isSharded ? 'smessage' : 'message', (channel: string, text: string) =>
      this.#listeners.get(channel)?.message(text),
    );
    redis.on('ready', () => this.#subscribeAll());
    redis.on('close', () => this.#lose());
    // A node that loses a slot ends its subscriptions without a request, after which ioredis no longer knows which
    // reply belongs to which command.
    if (this.#isSharded) redis.on('error', (error) => isOutOfStep(error) && this.#reconnect());
  }

  add(channel: string, listener: Listener): void {
    if (this.#listeners.has(channel)) throw new Error(`channel ${channel} has a listener`);
    this.#listeners.set(channel, listener);
    const presence = this.#presenceOf(channel);
    if (presence !== null) this.#presences.set(presence, (this.#presences.get(presence) ?? 0) + 1);
    if (this.isConnected) void this.#subscribe([channel]);
  }

  remove(channel: string): void {
    if (!this.#listeners.delete(channel)) return;
    this.#confirmed.delete(channel);
    const channels = [channel, ...this.#leavePresence(channel)];
    // When a socket breaks, the subscription ends with it.
    if (!this.isConnected) return;
    const done = this.#isSharded ? this.#redis.sunsubscribe(...channels) : this.#redis.unsubscribe(...channels);
    done.catch(() => undefined);
  }

  /** @returns the presence channel of a channel if no other channel needs it */
  #leavePresence(channel: string): string[] {
    const presence = this.#presenceOf(channel);
    if (presence === null) return [];
    const left = (this.#presences.get(presence) ?? 1) - 1;
    if (left > 0) this.#presences.set(presence, left);
    else this.#presences.delete(presence);
    return left > 0 ? [] : [presence];
  }

  /** Whether the channels are those of a node of a cluster. */
  get #isSharded(): boolean {
    return this.#receivesAll !== undefined;
  }

  isSubscribed(channel: string): boolean {
    return this.#confirmed.has(channel);
  }

  get isConnected(): boolean {
    return this.#redis.status === 'ready';
  }

  /** Whether a channel was added. */
  has(channel: string): boolean {
    return this.#listeners.has(channel);
  }

  /** Whether every channel is subscribed. */
  get areAllSubscribed(): boolean {
    return this.#confirmed.size === this.#listeners.size;
  }

  async #subscribe(channels: string[]): Promise<void> {
    const { stream } = this.#redis;
    // Remember the listener of each channel, because one that replaces it in the meantime gets a confirmation of its own.
    const requested = channels.map((channel) => [channel, this.#listeners.get(channel)] as const);
    // Presence comes first: Redis carries the command out in its order. A channel that is subscribed already stays so.
    const presences = new Set(channels.map(this.#presenceOf).filter((presence) => presence !== null));
    const all = [...presences, ...channels];
    try {
      await (this.#isSharded ? this.#redis.ssubscribe(...all) : this.#redis.subscribe(...all));
    } catch {
      return; // Another subscription follows: at the next `ready`, after the keepalive's reconnect, or at the slot's new node.
    }
    if (this.#receivesAll && !(await this.#isComplete(this.#receivesAll, stream))) return;
    if (this.#redis.stream !== stream) return;
    for (const [channel, listener] of requested) {
      if (listener !== this.#listeners.get(channel) || this.#confirmed.has(channel)) continue;
      this.#confirmed.add(channel);
      listener?.subscribed();
    }
  }

  /** Check whether the server of a socket gets all messages of the channels that were subscribed on it. */
  async #isComplete(receivesAll: () => Promise<boolean>, stream: Redis['stream']): Promise<boolean> {
    while (this.isConnected && this.#redis.stream === stream) {
      const isComplete = await receivesAll().catch(() => null);
      if (isComplete === false && this.#redis.stream === stream) this.#reconnect();
      if (isComplete !== null) return isComplete;
      await delay(CHECK_AGAIN_MS, undefined, { ref: false });
    }
    return false;
  }

  #subscribeAll(): void {
    for (const channels of this.#inGroups()) {
      for (let i = 0; i < channels.length; i += CHANNELS_AT_ONCE) {
        void this.#subscribe(channels.slice(i, i + CHANNELS_AT_ONCE));
      }
    }
  }

  /** Group the channels that may be subscribed in one command: in a cluster, only channels of one slot. */
  #inGroups(): string[][] {
    const channels = [...this.#listeners.keys()];
    if (!this.#isSharded) return [channels];
    const bySlot = new Map<number, string[]>();
    for (const channel of channels) {
      const slot = slotOf(channel);
      bySlot.set(slot, [...(bySlot.get(slot) ?? []), channel]);
    }
    return [...bySlot.values()];
  }

  /** Disconnect and connect again. Each lost channel may call this, but once is enough for a socket. */
  #reconnect(): void {
    if (!this.#redis.stream.writableEnded) this.#redis.disconnect(true);
  }

  #lose(): void {
    const lost = [...this.#confirmed];
    this.#confirmed.clear();
    for (const channel of lost) this.#listeners.get(channel)?.lost();
  }
}

/** Receives the messages of a channel. */
export interface Listener {
  /** A message was received. */
  message(text: string): void;
  /** Messages from now on may be missed, until `subscribed` is called again. */
  lost(): void;
  /** The channel is subscribed, for the first time or again: every message from now on is received. */
  subscribed(): void;
}

/** The channels that this process subscribes to, one listener each; see shareSubscriptions for more. */
export interface Subscriptions {
  /** Subscribe to a channel, as soon as there is a connection. */
  add(channel: string, listener: Listener): void;
  /** Unsubscribe from a channel. */
  remove(channel: string): void;
  /** Whether every message of a channel is received at the moment. */
  isSubscribed(channel: string): boolean;
}

/** Publish to a channel; in a cluster within the shard of its slot, where its listeners have subscribed. */
export function publish(redis: RedisClient, channel: string, message: string): Promise<unknown> {
  return redis instanceof Cluster ? redis.spublish(channel, message) : redis.publish(channel, message);
}
