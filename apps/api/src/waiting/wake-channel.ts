import { YardmasterError } from '@yardmaster/protocol';
import type { Listener, SharedSubscriptions } from '@yardmaster/redis';
import { every, type Service } from '@yardmaster/runtime';

/** Time between two checks, milliseconds. Pub/sub may lose a message, which must delay a waiting call by at most 5 s. */
const CHECK_MS = 4_500;

export interface WakeChannelOptions {
  channel: string;
  subscriptions: SharedSubscriptions;
  /** Called when the channel has stopped, because no call has waited for a while. */
  onUnused: () => void;
}

/**
 * A channel whose messages calls wait for. All calls of a process that wait on the same channel share one subscription and
 * one timer. The subscription is kept until the next check after the last call, because clients often call again right away.
 */
export abstract class WakeChannel implements Listener {
  readonly #options: WakeChannelOptions;
  readonly #checks: Service;

  constructor(options: WakeChannelOptions) {
    this.#options = options;
    const run = () => (this.isUsed ? this.check() : this.#end());
    this.#checks = every({ name: options.channel, ms: CHECK_MS, run });
  }

  /** Subscribe. Call it once. */
  start(): void {
    this.#options.subscriptions.add(this.#options.channel, this);
    void this.#checks.start();
  }

  get isSubscribed(): boolean {
    return this.#options.subscriptions.isSubscribed(this.#options.channel);
  }

  /** Whether any call is waiting. */
  protected abstract get isUsed(): boolean;

  abstract message(text: string): void;

  /** Handle a new subscription, before which messages may have been missed. */
  abstract subscribed(): void;

  /** Check whether a message was lost. Must not throw. */
  protected abstract check(): Promise<void>;

  /** Do nothing: `subscribed` follows. */
  lost(): void {}

  #end(): void {
    void this.#checks.stop(0);
    this.#options.subscriptions.remove(this.#options.channel, this);
    this.#options.onUnused();
  }
}

/** Return whether a call keeps waiting after this error: Redis is unavailable, or Redis or the process is busy. */
export const isTransient = (error: unknown) => error instanceof YardmasterError && error.status === 503;

/** Return whether this error leaves the outcome of a call to Redis unknown. */
export const isUnknown = (error: unknown) => error instanceof YardmasterError && error.code === 'UNAVAILABLE';
