import { setTimeout as delay } from 'node:timers/promises';
import { Cluster, type Redis } from 'ioredis';
import { type RedisClient, slotOf } from '../client.js';

/** Channels per SUBSCRIBE after a lost connection: a command of about 30 KB. */
const CHANNELS_AT_ONCE = 500;

/** Returns the presence channel of a channel; null for none. Publishers send nothing unless it has subscribers. */
export type PresenceOf = (channel: string) => string | null;

export interface SubscriptionOptions {
  /** Default: no channel has a presence channel. */
  presenceOf?: PresenceOf;
  /**
   * Only for a cluster node, which serves the channels of its slots. Checks after each subscription whether the node receives
   * everything that is published. Repeated until it doesn't throw. If it returns false, the connection is reopened.
   */
  receivesAll?: () => Promise<boolean>;
}

/** Delay before repeating a check of a subscription that failed, milliseconds. */
const CHECK_AGAIN_MS = 200;

const isOutOfStep = ({ message }: Error) => message.startsWith('Command queue state error');

/**
 * Subscribes to channels over one connection.
 *
 * Redis pub/sub silently loses messages that are published while a connection is down. So every channel is resubscribed on
 * each new socket, and its listener is told about the start and the end of the gap, because only the listener can handle it.
 * ioredis's own resubscription must be off: it doesn't tell listeners, and leaves its promise's rejection unhandled.
 */
export class ConnectionSubscriptions implements Subscriptions {
  readonly #redis: Redis;
  readonly #receivesAll: (() => Promise<boolean>) | undefined;
  readonly #presenceOf: PresenceOf;
  /** Number of channels that need each presence channel. */
  readonly #presences = new Map<string, number>();
  readonly #listeners = new Map<string, Listener>();
  /** Channels that Redis has confirmed on the current socket. */
  readonly #confirmed = new Set<string>();

  /** @param redis connection for subscribing, opened and closed by the caller */
  constructor(redis: Redis, { presenceOf = () => null, receivesAll }: SubscriptionOptions = {}) {
    this.#redis = redis;
    this.#presenceOf = presenceOf;
    this.#receivesAll = receivesAll;
    redis.on(this.#isSharded ? 'smessage' : 'message', (channel: string, text: string) =>
      this.#listeners.get(channel)?.message(text),
    );
    redis.on('ready', () => this.#subscribeAll());
    redis.on('close', () => this.#lose());
    // A node that loses a slot ends the slot's subscriptions on its own. After that, ioredis can't tell which reply belongs
    // to which command.
    if (this.#isSharded) redis.on('error', (error) => isOutOfStep(error) && this.#reconnect());
  }

  add(channel: string, listener: Listener): void {
    if (this.#listeners.has(channel)) throw new Error(`channel ${channel} already has a listener`);
    this.#listeners.set(channel, listener);
    const presence = this.#presenceOf(channel);
    if (presence !== null) this.#presences.set(presence, (this.#presences.get(presence) ?? 0) + 1);
    if (this.isConnected) void this.#subscribe([channel]);
  }

  remove(channel: string): void {
    if (!this.#listeners.delete(channel)) return;
    this.#confirmed.delete(channel);
    const channels = [channel, ...this.#leavePresence(channel)];
    // If the socket breaks, the subscription ends with it.
    if (!this.isConnected) return;
    const done = this.#isSharded ? this.#redis.sunsubscribe(...channels) : this.#redis.unsubscribe(...channels);
    done.catch(() => undefined);
  }

  /** Return the presence channel of a channel if no other channel needs it. */
  #leavePresence(channel: string): string[] {
    const presence = this.#presenceOf(channel);
    if (presence === null) return [];
    const left = (this.#presences.get(presence) ?? 1) - 1;
    if (left > 0) this.#presences.set(presence, left);
    else this.#presences.delete(presence);
    return left > 0 ? [] : [presence];
  }

  /** Whether the channels belong to a cluster node. */
  get #isSharded(): boolean {
    return this.#receivesAll !== undefined;
  }

  isSubscribed(channel: string): boolean {
    return this.#confirmed.has(channel);
  }

  get isConnected(): boolean {
    return this.#redis.status === 'ready';
  }

  /** Return whether a channel was added. */
  has(channel: string): boolean {
    return this.#listeners.has(channel);
  }

  /** Whether every channel is subscribed. */
  get areAllSubscribed(): boolean {
    return this.#confirmed.size === this.#listeners.size;
  }

  async #subscribe(channels: string[]): Promise<void> {
    const { stream } = this.#redis;
    // Remember the listener of each channel, because one that replaces it in the meantime gets its own confirmation.
    const requested = channels.map((channel) => [channel, this.#listeners.get(channel)] as const);
    // Presence channels first, because Redis subscribes in order. Subscribing to a channel again has no effect.
    const presences = new Set(channels.map(this.#presenceOf).filter((presence) => presence !== null));
    const all = [...presences, ...channels];
    try {
      await (this.#isSharded ? this.#redis.ssubscribe(...all) : this.#redis.subscribe(...all));
    } catch {
      return; // Another attempt follows: at the next `ready`, after a reconnect, or on the slot's new node.
    }
    if (this.#receivesAll && !(await this.#isComplete(this.#receivesAll, stream))) return;
    if (this.#redis.stream !== stream) return;
    for (const [channel, listener] of requested) {
      if (listener !== this.#listeners.get(channel) || this.#confirmed.has(channel)) continue;
      this.#confirmed.add(channel);
      listener?.subscribed();
    }
  }

  /** Check whether the server of a socket receives all messages of the channels subscribed on it. */
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

  /** Group channels that may be subscribed in one command: in a cluster, only channels of the same slot. */
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

  /** Disconnect and reconnect. Each lost channel may call this, but once per socket is enough. */
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
  /** Called with each message. */
  message(text: string): void;
  /** Called when messages may be missed, until `subscribed` is called again. */
  lost(): void;
  /** Called once the channel is subscribed or resubscribed. From then on, all messages are received. */
  subscribed(): void;
}

/** The channels that this process subscribes to, with one listener each; for several, see shareSubscriptions. */
export interface Subscriptions {
  /** Subscribe to a channel as soon as there is a connection. */
  add(channel: string, listener: Listener): void;
  /** Unsubscribe from a channel. */
  remove(channel: string): void;
  /** Return whether all messages of a channel are currently received. */
  isSubscribed(channel: string): boolean;
}

/** Publish to a channel; in a cluster, within the shard of its slot, where its listeners have subscribed. */
export function publish(redis: RedisClient, channel: string, message: string): Promise<unknown> {
  return redis instanceof Cluster ? redis.spublish(channel, message) : redis.publish(channel, message);
}
