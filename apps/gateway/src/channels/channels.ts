import type { Logger } from '@yardmaster/runtime';
import type { ServerContext } from '@yardmaster/server';
import { EmitSpaceChannel } from './emit-space-channel.js';
import { JobChannel } from './job-channel.js';
import { SpaceChannel } from './space-channel.js';

type Context = Pick<ServerContext, 'store' | 'subscriptions' | 'isEmit'>;

/** All channels that this process subscribes to. Each is subscribed once, for any number of clients. */
export class Channels {
  readonly #context: Context;
  readonly #log: Logger;
  readonly #jobs = new Map<string, JobChannel>();
  readonly #spaces = new Map<string, SpaceChannel>();

  constructor(context: Context, log: Logger) {
    this.#context = context;
    this.#log = log;
  }

  /** Return the channel of a job. Retain it before awaiting anything else. */
  ofJob(jobId: string): JobChannel {
    return this.#getOrCreate(this.#jobs, jobId, (onUnused) => {
      const { store } = this.#context;
      return new JobChannel({ ...this.#optionsOf(store.keys.jobChannel(jobId), onUnused), jobId, store });
    });
  }

  /** Return the channel of a space. Retain it before awaiting anything else. */
  ofSpace(spaceId: string): SpaceChannel {
    return this.#getOrCreate(this.#spaces, spaceId, (onUnused) => {
      const { store, isEmit } = this.#context;
      const options = { ...this.#optionsOf(store.keys.spaceChannel(spaceId), onUnused), spaceId, store };
      return isEmit ? new EmitSpaceChannel(options) : new SpaceChannel(options);
    });
  }

  #optionsOf(channel: string, onUnused: () => void) {
    return { channel, subscriptions: this.#context.subscriptions, log: this.#log, onUnused };
  }

  #getOrCreate<C>(channels: Map<string, C>, id: string, create: (onUnused: () => void) => C): C {
    const channel = channels.get(id) ?? create(() => channels.delete(id));
    channels.set(id, channel);
    return channel;
  }
}
