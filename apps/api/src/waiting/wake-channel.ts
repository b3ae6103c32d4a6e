import { YardmasterError } from '@yardmaster/protocol';
import type { Listener, SharedSubscriptions } from '@yardmaster/redis';
import { every, type Service } from '@yardmaster/runtime';

/**
 * Time between two checks, milliseconds. Pub/sub may lose a message; the call that waits for it must not wait more than
 * 5 s longer.
 */
const CHECK_MS = 4_500;

export interface WakeChannelOptions {
  channel: string;
  subscriptions: SharedSubscriptions;
  /** Called when the channel has ended, because no call waited for a while. */
  onUnused: () => void;
}

/**
 * A channel whose messages calls wait for. All calls of a process that wait for the same share one subscription and one
 * timer. The subscription outlives the last call until the next check, because the same clients often call again at
 * once.
 */
export abstract class WakeChannel implements Listener {
  readonly #options: WakeChannelOptions;
  readonly #checks: Service;

  constructor(options: WakeChannelOptions) {
    this.#options = options;
    const run = () => (this.isUsed ? this.check() : this.#end());
    this.#checks = every({ name: options.channel, ms: CHECK_MS, run });
  }

  /** Subscribe; to be called once. */
  start(): void {
    this.#options.subscriptions.add(this.#options.channel, this);
    void this.#checks.start();
  }

  get isSubscribed(): boolean {
    return this.#options.subscriptions.isSubscribed(this.#options.channel);
  }

  /** Whether a call waits. */
  protected abstract get isUsed(): boolean;

  abstract message(text: string): void;

  /** Messages may have been missed until now. */
  abstract subscribed(): void;

  /** Find out whether a message was lost. It must not throw. */
  protected abstract check(): Promise<void>;

  /** Do nothing: `subscribed` follows. */
  lost(): void {}

  #end(): void {
    void this.#checks.stop(0);
    this.#options.subscriptions.remove(this.#options.channel, this);
    this.#options.onUnused();
  }
}

/** Whether a waiting call keeps waiting after an error: Redis is away, or the process or Redis is busy. */
export const isTransient = (error: unknown) => error instanceof YardmasterError && error.status === 503;

/** Whether the outcome of a call to Redis is unknown. */
export const isUnknown = (error: unknown) => error instanceof YardmasterError && error.code === 'UNAVAILABLE';
