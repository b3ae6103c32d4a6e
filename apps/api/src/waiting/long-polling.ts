import type { SharedSubscriptions } from '@yardmaster/redis';
import { hasClaimable, readStatus, type Store } from '@yardmaster/store';
import { JobWakeChannel } from './job-wake-channel.js';
import { SpaceWakeChannel } from './space-wake-channel.js';
import { WaitRegistry, type WaitRegistryOptions } from './wait-registry.js';
import type { WakeChannel } from './wake-channel.js';

/** Runs part of a call in Redis, in its own slot. */
export type AtRedis = <T>(work: (store: Store) => Promise<T>) => Promise<T>;

export interface LongPollingOptions extends WaitRegistryOptions {
  keys: Store['keys'];
  subscriptions: SharedSubscriptions;
  /** Runs the reads that the waiting calls of this process share. */
  atRedis: AtRedis;
}

/** The waiting calls of this process, and the channels that they wait for. */
export interface LongPolling {
  waits: WaitRegistry;
  ofSpace(spaceId: string): SpaceWakeChannel;
  /** Return the channel of a space if there is one. */
  knownSpace(spaceId: string): SpaceWakeChannel | undefined;
  ofJob(jobId: string): JobWakeChannel;
}

/** Create the long polling of a process. */
export function createLongPolling({ keys, subscriptions, atRedis, ...options }: LongPollingOptions): LongPolling {
  const spaces = new WakeChannels(
    (spaceId, onUnused) =>
      new SpaceWakeChannel({
        channel: keys.wakeChannel(spaceId),
        subscriptions,
        onUnused,
        hasClaimable: (names) => atRedis((store) => hasClaimable(store, spaceId, names)),
      }),
  );
  const jobs = new WakeChannels(
    (jobId, onUnused) =>
      new JobWakeChannel({
        channel: keys.jobChannel(jobId),
        subscriptions,
        onUnused,
        readStatus: () => atRedis((store) => readStatus(store, jobId)),
      }),
  );
  return {
    waits: new WaitRegistry(options),
    ofSpace: (spaceId) => spaces.of(spaceId),
    knownSpace: (spaceId) => spaces.known(spaceId),
    ofJob: (jobId) => jobs.of(jobId),
  };
}

/** Wake channels by ID. Each is removed once it is no longer used. */
class WakeChannels<W extends WakeChannel> {
  readonly #all = new Map<string, W>();
  readonly #create: (id: string, onUnused: () => void) => W;

  constructor(create: (id: string, onUnused: () => void) => W) {
    this.#create = create;
  }

  known(id: string): W | undefined {
    return this.#all.get(id);
  }

  /** Return the channel of an ID, starting it first if needed. */
  of(id: string): W {
    const known = this.#all.get(id);
    if (known !== undefined) return known;
    const channel = this.#create(id, () => this.#all.delete(id));
    this.#all.set(id, channel);
    channel.start();
    return channel;
  }
}
