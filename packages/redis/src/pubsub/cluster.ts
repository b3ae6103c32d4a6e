import type { Cluster, Redis } from 'ioredis';
import { ConnectionSubscriptions } from './single.js';
import { slotOf } from './slot.js';
import type { Listener, Subscriptions } from './subscriptions.js';

/** How often to check that every channel is heard. */
const LOOK_AFTER_MS = 500;

/** A connection for subscribing, and how to end it. */
export interface Subscriber {
  redis: Redis;
  end(): void;
}

/** A primary at which this process has subscribed channels. */
interface Home {
  subscriber: Subscriber;
  channels: ConnectionSubscriptions;
}

/** The channels of one slot, which move together. */
interface Shard {
  listeners: Map<string, Listener>;
  /** Address of the primary where they are subscribed; null while no primary is known to have the slot. */
  home: string | null;
}

const addressOf = ({ options }: Redis) => `${options.host}:${options.port}`;

/**
 * Channels that are heard in a cluster, each at the primary that has its slot, over one connection to each such
 * primary.
 *
 * A slot goes to another primary when the old one fails or when the slot is moved. A node that loses a slot ends its
 * subscriptions, and so does a node that dies. When that is noticed, and at the latest when ioredis next reads which
 * primary has which slot (every 5 s), the channels are subscribed at the new primary, and their listeners learn of the
 * gap.
 */
export class ClusterSubscriptions implements Subscriptions {
  readonly #cluster: Cluster;
  readonly #connect: (node: Redis) => Subscriber;
  readonly #homes = new Map<string, Home>();
  readonly #shards = new Map<number, Shard>();
  readonly #timer: NodeJS.Timeout;

  /**
   * @param cluster knows which primary has which slot; the caller opens and closes it
   * @param connect makes a connection for subscribing to a node, which connects by itself
   */
  constructor(cluster: Cluster, connect: (node: Redis) => Subscriber) {
    this.#cluster = cluster;
    this.#connect = connect;
    cluster.on('refresh', () => this.#settle());
    this.#timer = setInterval(() => this.#lookAfter(), LOOK_AFTER_MS).unref();
  }

  add(channel: string, listener: Listener): void {
    const slot = slotOf(channel);
    const shard = this.#shards.get(slot) ?? { listeners: new Map(), home: this.#ownerOf(slot) };
    this.#shards.set(slot, shard);
    if (shard.listeners.has(channel)) throw new Error(`channel ${channel} has a listener`);
    shard.listeners.set(channel, listener);
    this.#homeOf(shard)?.channels.add(channel, listener);
  }

  remove(channel: string): void {
    const slot = slotOf(channel);
    const shard = this.#shards.get(slot);
    if (!shard?.listeners.delete(channel)) return;
    if (shard.home !== null) this.#homes.get(shard.home)?.channels.remove(channel);
    if (shard.listeners.size === 0) this.#shards.delete(slot);
  }

  hears(channel: string): boolean {
    const home = this.#shards.get(slotOf(channel))?.home ?? null;
    return home !== null && (this.#homes.get(home)?.channels.hears(channel) ?? false);
  }

  /** End every connection that this object has made. */
  end(): void {
    clearInterval(this.#timer);
    for (const { subscriber } of this.#homes.values()) subscriber.end();
    this.#homes.clear();
  }

  #ownerOf(slot: number): string | null {
    return this.#cluster.slots[slot]?.[0] ?? null;
  }

  /** Return where a shard's channels are subscribed, and make a connection if there is none yet. */
  #homeOf({ home: address }: Shard): Home | null {
    if (address === null) return null;
    const known = this.#homes.get(address);
    if (known !== undefined) return known;
    const node = this.#cluster.nodes('master').find((redis) => addressOf(redis) === address);
    if (node === undefined) return null; // Not reachable now; `#lookAfter` tries again.
    const subscriber = this.#connect(node);
    const home = {
      subscriber,
      channels: new ConnectionSubscriptions(subscriber.redis, 'sharded', () => this.#isPrimary(address)),
    };
    this.#homes.set(address, home);
    return home;
  }

  /**
   * Check that a node is a primary. A replica confirms subscriptions, too, and receives what its primary publishes. But
   * a replica that was the primary until just now receives nothing before the new primary knows it as its replica, and
   * that would not be noticed.
   */
  async #isPrimary(address: string): Promise<boolean> {
    const node = this.#cluster.nodes('all').find((redis) => addressOf(redis) === address);
    if (node === undefined) throw new Error(`nobody knows ${address}`);
    const isPrimary = /^role:master\r?$/m.test(await node.info('replication'));
    if (!isPrimary) this.#cluster.refreshSlotsCache();
    return isPrimary;
  }

  /**
   * Ask again which primary has which slot while a channel is not heard. The event `refresh` then settles what has
   * changed.
   */
  #lookAfter(): void {
    const isWell = [...this.#shards.values()].every(
      ({ home }) => home !== null && this.#homes.get(home)?.channels.hearsAll,
    );
    if (isWell || this.#cluster.status !== 'ready') return;
    this.#settle();
    this.#cluster.refreshSlotsCache();
  }

  /** Subscribe every channel at the primary that has its slot now. */
  #settle(): void {
    for (const [slot, shard] of this.#shards) {
      const owner = this.#ownerOf(slot);
      if (owner !== shard.home) this.#leave(shard);
      shard.home = owner;
      const home = this.#homeOf(shard);
      for (const [channel, listener] of shard.listeners)
        if (!home?.channels.has(channel)) home?.channels.add(channel, listener);
    }
    const inUse = new Set([...this.#shards.values()].map(({ home }) => home));
    for (const [address, { subscriber }] of this.#homes) {
      if (inUse.has(address)) continue;
      subscriber.end();
      this.#homes.delete(address);
    }
  }

  #leave({ home, listeners }: Shard): void {
    const channels = home === null ? undefined : this.#homes.get(home)?.channels;
    for (const [channel, listener] of listeners) {
      const wasHeard = channels?.hears(channel) ?? false;
      channels?.remove(channel);
      if (wasHeard) listener.lost();
    }
  }
}
