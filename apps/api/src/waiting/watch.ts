import type { Listener, SharedSubscriptions } from '@yardmaster/redis';

/**
 * Time between two checks, milliseconds. Pub/sub may lose a message; the call that waits for it must not wait more than
 * 5 s longer.
 */
const CHECK_MS = 4_500;

export interface WatchOptions {
  channel: string;
  subscriptions: SharedSubscriptions;
  /** Called when the watch has ended, because no call waited for a while. */
  onUnused: () => void;
}

/**
 * A channel whose messages calls wait for. All calls of a process that wait for the same share one subscription and one
 * timer. The subscription outlives the last call until the next check, because the same clients often call again at
 * once.
 */
export abstract class Watch implements Listener {
  readonly #options: WatchOptions;
  readonly #timer: NodeJS.Timeout;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#timer = setInterval(() => (this.isUsed ? void this.check() : this.#end()), CHECK_MS).unref();
  }

  /** Subscribe; to be called once. */
  start(): void {
    this.#options.subscriptions.add(this.#options.channel, this);
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
    clearInterval(this.#timer);
    this.#options.subscriptions.remove(this.#options.channel, this);
    this.#options.onUnused();
  }
}
