import type { Cluster, Redis } from 'ioredis';
import { slotOf } from '../client.js';
import { ConnectionSubscriptions, type Listener, type PresenceOf, type Subscriptions } from './single.js';

/** Time between two checks that every channel is subscribed, milliseconds. */
export const CHECK_SUBSCRIPTIONS_MS = 500;

/** A connection for subscribing, and how to close it. */
export interface Subscriber {
  redis: Redis;
  end(): void;
}

/** A primary on which this process has subscribed to channels. */
interface NodeSubscriptions {
  subscriber: Subscriber;
  channels: ConnectionSubscriptions;
}

/** The channels of one slot, which move together. */
interface Shard {
  listeners: Map<string, Listener>;
  /** Address of the primary that the channels are subscribed on; null while no primary is known to have the slot. */
  nodeAddress: string | null;
}

const addressOf = ({ options }: Redis) => `${options.host}:${options.port}`;

/**
 * Subscribes to channels of a cluster, each on the primary that has its slot, over one connection per primary.
 *
 * A slot moves to another primary if the old one fails or the cluster is resharded. A node that fails or loses a slot drops
 * its subscriptions. The channels are then subscribed on the new primary, and their listeners are told about the gap. This
 * happens no later than when ioredis refreshes its slot table (every 5 s).
 */
export class ClusterSubscriptions implements Subscriptions {
  readonly #cluster: Cluster;
  readonly #connect: (node: Redis) => Subscriber;
  readonly #presenceOf: PresenceOf;
  readonly #nodes = new Map<string, NodeSubscriptions>();
  readonly #shards = new Map<number, Shard>();

  /**
   * @param cluster knows which primary has which slot; opened and closed by the caller
   * @param connect creates a connection for subscribing to a node, which connects on its own
   */
  constructor(cluster: Cluster, connect: (node: Redis) => Subscriber, presenceOf: PresenceOf = () => null) {
    this.#cluster = cluster;
    this.#connect = connect;
    this.#presenceOf = presenceOf;
    cluster.on('refresh', () => this.#subscribeAll());
  }

  add(channel: string, listener: Listener): void {
    const slot = slotOf(channel);
    const shard = this.#shards.get(slot) ?? { listeners: new Map(), nodeAddress: this.#ownerOf(slot) };
    this.#shards.set(slot, shard);
    if (shard.listeners.has(channel)) throw new Error(`channel ${channel} already has a listener`);
    shard.listeners.set(channel, listener);
    this.#nodeOf(shard)?.channels.add(channel, listener);
  }

  remove(channel: string): void {
    const slot = slotOf(channel);
    const shard = this.#shards.get(slot);
    if (!shard?.listeners.delete(channel)) return;
    if (shard.nodeAddress !== null) this.#nodes.get(shard.nodeAddress)?.channels.remove(channel);
    if (shard.listeners.size === 0) this.#shards.delete(slot);
  }

  isSubscribed(channel: string): boolean {
    const address = this.#shards.get(slotOf(channel))?.nodeAddress ?? null;
    return address !== null && (this.#nodes.get(address)?.channels.isSubscribed(channel) ?? false);
  }

  /** Close all connections that this object has opened. */
  end(): void {
    for (const { subscriber } of this.#nodes.values()) subscriber.end();
    this.#nodes.clear();
  }

  #ownerOf(slot: number): string | null {
    return this.#cluster.slots[slot]?.[0] ?? null;
  }

  /** Return the node that a shard's channels are subscribed on, connecting to it if needed. */
  #nodeOf({ nodeAddress: address }: Shard): NodeSubscriptions | null {
    if (address === null) return null;
    const found = this.#nodes.get(address);
    if (found !== undefined) return found;
    const primary = this.#cluster.nodes('master').find((redis) => addressOf(redis) === address);
    if (primary === undefined) return null; // The node is not reachable; `check` retries.
    const subscriber = this.#connect(primary);
    const channels = new ConnectionSubscriptions(subscriber.redis, {
      presenceOf: this.#presenceOf,
      receivesAll: () => this.#isPrimary(address),
    });
    const node = { subscriber, channels };
    this.#nodes.set(address, node);
    return node;
  }

  /**
   * Check that a node is a primary. A replica also confirms subscriptions, and receives the messages of its primary. But a
   * replica that has just been demoted receives nothing until the new primary knows it, which would go unnoticed.
   */
  async #isPrimary(address: string): Promise<boolean> {
    const node = this.#cluster.nodes('all').find((redis) => addressOf(redis) === address);
    if (node === undefined) throw new Error(`${address} is not a node of the cluster`);
    const isPrimary = /^role:master\r?$/m.test(await node.info('replication'));
    if (!isPrimary) this.#cluster.refreshSlotsCache();
    return isPrimary;
  }

  /**
   * Refresh the slot table while any channel is not subscribed. Call it every half second. The event `refresh` then moves the
   * channels whose slot has moved.
   */
  check(): void {
    const isComplete = [...this.#shards.values()].every(
      ({ nodeAddress }) => nodeAddress !== null && this.#nodes.get(nodeAddress)?.channels.areAllSubscribed,
    );
    if (isComplete || this.#cluster.status !== 'ready') return;
    this.#subscribeAll();
    this.#cluster.refreshSlotsCache();
  }

  /** Subscribe every channel on the primary that currently has its slot. */
  #subscribeAll(): void {
    for (const [slot, shard] of this.#shards) {
      const owner = this.#ownerOf(slot);
      if (owner !== shard.nodeAddress) this.#leave(shard);
      shard.nodeAddress = owner;
      const channels = this.#nodeOf(shard)?.channels;
      for (const [channel, listener] of shard.listeners) if (!channels?.has(channel)) channels?.add(channel, listener);
    }
    const inUse = new Set([...this.#shards.values()].map(({ nodeAddress }) => nodeAddress));
    for (const [address, { subscriber }] of this.#nodes) {
      if (inUse.has(address)) continue;
      subscriber.end();
      this.#nodes.delete(address);
    }
  }

  #leave({ nodeAddress, listeners }: Shard): void {
    const channels = nodeAddress === null ? undefined : this.#nodes.get(nodeAddress)?.channels;
    for (const [channel, listener] of listeners) {
      const wasSubscribed = channels?.isSubscribed(channel) ?? false;
      channels?.remove(channel);
      if (wasSubscribed) listener.lost();
    }
  }
}
