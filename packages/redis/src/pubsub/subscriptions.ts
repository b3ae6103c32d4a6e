import { Cluster } from 'ioredis';
import type { RedisClient } from '../client.js';

/** Listener that hears a channel. */
export interface Listener {
  /** A message was received. */
  message(text: string): void;
  /** Messages from now on may be missed, until `subscribed` is called again. */
  lost(): void;
  /** The channel is subscribed, for the first time or again: every message from now on is received. */
  subscribed(): void;
}

/** The channels that this process hears, one listener each. */
export interface Subscriptions {
  /** Hear a channel from now on. While there is no connection, it is subscribed as soon as there is one. */
  add(channel: string, listener: Listener): void;
  /** Stop hearing a channel. */
  remove(channel: string): void;
  /** Whether every message of a channel is received at the moment. */
  hears(channel: string): boolean;
}

/** Publish to a channel; in a cluster within the shard of its slot, where its listeners have subscribed. */
export function publish(redis: RedisClient, channel: string, message: string): Promise<unknown> {
  return redis instanceof Cluster ? redis.spublish(channel, message) : redis.publish(channel, message);
}
