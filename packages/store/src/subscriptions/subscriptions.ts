import { Cluster } from 'ioredis';
import type { RedisClient } from '../store.js';

/** What hears a channel. */
export interface Listener {
  /** A message came. */
  message(text: string): void;
  /** Messages from now on may be missed, until `subscribed` is called again. */
  lost(): void;
  /** Subscribed, for the first time or again: every message from now on comes. */
  subscribed(): void;
}

/** The channels that this process hears, one listener each. */
export interface Subscriptions {
  /** Hear a channel from now on. While there is no connection, it is subscribed as soon as there is one. */
  add(channel: string, listener: Listener): void;
  /** Hear a channel no more. */
  remove(channel: string): void;
  /** Whether every message of a channel comes just now. */
  hears(channel: string): boolean;
}

/** Publish to a channel; in a cluster within the shard of its slot, where those who hear it have subscribed. */
export function publish(redis: RedisClient, channel: string, message: string): Promise<unknown> {
  return redis instanceof Cluster ? redis.spublish(channel, message) : redis.publish(channel, message);
}
