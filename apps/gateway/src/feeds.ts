import type { Logger } from '@yardmaster/runtime';
import type { Store, Subscriptions } from '@yardmaster/store';
import { JobFeed } from './job-feed.js';
import { SpaceFeed } from './space-feed.js';

/** Every channel that this process watches, each once, however many clients watch it. */
export class Feeds {
  readonly #store: Store;
  readonly #subscriptions: Subscriptions;
  readonly #log: Logger;
  readonly #jobs = new Map<string, JobFeed>();
  readonly #spaces = new Map<string, SpaceFeed>();

  constructor(store: Store, subscriptions: Subscriptions, log: Logger) {
    this.#store = store;
    this.#subscriptions = subscriptions;
    this.#log = log;
  }

  /** The feed of a job; hold it before anything else is awaited. */
  ofJob(jobId: string): JobFeed {
    return this.#once(this.#jobs, jobId, (onUnused) => {
      const channel = this.#store.keys.jobChannel(jobId);
      return new JobFeed({ ...this.#shared(channel, onUnused), jobId, store: this.#store });
    });
  }

  /** The feed of a space; hold it before anything else is awaited. */
  ofSpace(spaceId: string): SpaceFeed {
    return this.#once(this.#spaces, spaceId, (onUnused) => {
      return new SpaceFeed(this.#shared(this.#store.keys.spaceChannel(spaceId), onUnused));
    });
  }

  #shared(channel: string, onUnused: () => void) {
    return { channel, subscriptions: this.#subscriptions, log: this.#log, onUnused };
  }

  #once<F>(feeds: Map<string, F>, id: string, make: (onUnused: () => void) => F): F {
    const feed = feeds.get(id) ?? make(() => feeds.delete(id));
    feeds.set(id, feed);
    return feed;
  }
}
