import type { SharedSubscriptions } from '@yardmaster/redis';
import { hasClaimable, readStatus, type Store } from '@yardmaster/store';
import { JobWatch } from './job-watch.js';
import { SpaceWatch } from './space-watch.js';
import { Waits, type WaitsOptions } from './waits.js';
import type { Watch } from './watch.js';

/** Runs a part of a call at Redis, with a slot of its own. */
export type AtRedis = <T>(work: (store: Store) => Promise<T>) => Promise<T>;

export interface WaitingOptions extends WaitsOptions {
  keys: Store['keys'];
  subscriptions: SharedSubscriptions;
  /** Runs the reads that the waiting calls of this process share. */
  atRedis: AtRedis;
}

/** The calls of this process that wait, and the channels that they wait for. */
export interface Waiting {
  waits: Waits;
  ofSpace(spaceId: string): SpaceWatch;
  /** Return the watch of a space if there is one. */
  knownSpace(spaceId: string): SpaceWatch | undefined;
  ofJob(jobId: string): JobWatch;
}

/** Create the waiting of a process, without calls. */
export function createWaiting({ keys, subscriptions, atRedis, ...options }: WaitingOptions): Waiting {
  const spaces = new Watches(
    (spaceId, onUnused) =>
      new SpaceWatch({
        channel: keys.wakeChannel(spaceId),
        subscriptions,
        onUnused,
        hasClaimable: (names) => atRedis((store) => hasClaimable(store, spaceId, names)),
      }),
  );
  const jobs = new Watches(
    (jobId, onUnused) =>
      new JobWatch({
        channel: keys.jobChannel(jobId),
        subscriptions,
        onUnused,
        readStatus: () => atRedis((store) => readStatus(store, jobId)),
      }),
  );
  return {
    waits: new Waits(options),
    ofSpace: (spaceId) => spaces.of(spaceId),
    knownSpace: (spaceId) => spaces.known(spaceId),
    ofJob: (jobId) => jobs.of(jobId),
  };
}

/** Watches by id; each ends on its own once it is not used. */
class Watches<W extends Watch> {
  readonly #all = new Map<string, W>();
  readonly #create: (id: string, onUnused: () => void) => W;

  constructor(create: (id: string, onUnused: () => void) => W) {
    this.#create = create;
  }

  known(id: string): W | undefined {
    return this.#all.get(id);
  }

  /** Return the watch for an id, starting it first if needed. */
  of(id: string): W {
    const known = this.#all.get(id);
    if (known !== undefined) return known;
    const watch = this.#create(id, () => this.#all.delete(id));
    this.#all.set(id, watch);
    watch.start();
    return watch;
  }
}
