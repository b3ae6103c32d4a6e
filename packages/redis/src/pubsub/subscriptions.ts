import { Cluster } from 'ioredis';
import type { RedisClient } from '../client.js';

/** Receives the messages of a channel. */
export interface Listener {
  /** A message was received. */
  message(text: string): void;
  /** Messages from now on may be missed, until `subscribed` is called again. */
  lost(): void;
  /** The channel is subscribed, for the first time or again: every message from now on is received. */
  subscribed(): void;
}

/** The channels that this process subscribes to, one listener each. */
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
