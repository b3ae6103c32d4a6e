import type { Subscriptions } from '@yardmaster/redis';
import type { Logger } from '@yardmaster/runtime';
import type { Store } from '@yardmaster/store';
import { JobChannel } from './job-channel.js';
import { SpaceChannel } from './space-channel.js';

/** Every channel that this process subscribes to, each once, however many clients watch it. */
export class Channels {
  readonly #store: Store;
  readonly #subscriptions: Subscriptions;
  readonly #log: Logger;
  readonly #jobs = new Map<string, JobChannel>();
  readonly #spaces = new Map<string, SpaceChannel>();

  constructor(store: Store, subscriptions: Subscriptions, log: Logger) {
    this.#store = store;
    this.#subscriptions = subscriptions;
    this.#log = log;
  }

  /** Return the channel of a job. The caller must retain it before it awaits anything else. */
  ofJob(jobId: string): JobChannel {
    return this.#getOrCreate(this.#jobs, jobId, (onUnused) => {
      const channel = this.#store.keys.jobChannel(jobId);
      return new JobChannel({ ...this.#optionsOf(channel, onUnused), jobId, store: this.#store });
    });
  }

  /** Return the channel of a space. The caller must retain it before it awaits anything else. */
  ofSpace(spaceId: string): SpaceChannel {
    return this.#getOrCreate(this.#spaces, spaceId, (onUnused) => {
      return new SpaceChannel(this.#optionsOf(this.#store.keys.spaceChannel(spaceId), onUnused));
    });
  }

  #optionsOf(channel: string, onUnused: () => void) {
    return { channel, subscriptions: this.#subscriptions, log: this.#log, onUnused };
  }

  #getOrCreate<C>(channels: Map<string, C>, id: string, create: (onUnused: () => void) => C): C {
    const channel = channels.get(id) ?? create(() => channels.delete(id));
    channels.set(id, channel);
    return channel;
  }
}
