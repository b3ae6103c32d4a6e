import type { PublishedEvent } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import type { Listener, Subscriptions } from '@yardmaster/store';
import { Outgoing } from './message.js';
import type { Session } from './session.js';

export interface FeedOptions {
  channel: string;
  subscriptions: Subscriptions;
  log: Logger;
  /** Called when the last one lets go of it: it is subscribed no more. */
  onUnused: () => void;
}

/** One channel and the sessions that watch it: subscribed once, as long as anybody holds it. */
export abstract class Feed implements Listener {
  readonly sessions = new Set<Session>();
  readonly #options: FeedOptions;
  #holds = 0;
  #waiting: (() => void)[] = [];
  /** How often it was subscribed: whoever sees it change was without messages in between. */
  #subscribedTimes = 0;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Keep it subscribed until the function returned is called. */
  hold(): () => void {
    const { channel, subscriptions, onUnused } = this.#options;
    if (this.#holds++ === 0) subscriptions.add(channel, this);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      if (--this.#holds > 0) return;
      subscriptions.remove(channel);
      onUnused();
    };
  }

  /** Wait until every message comes. Never rejects; bound the wait. */
  whenSubscribed(): Promise<void> {
    if (this.isSubscribed) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  get isSubscribed(): boolean {
    return this.#options.subscriptions.hears(this.#options.channel);
  }

  get subscribedTimes(): number {
    return this.#subscribedTimes;
  }

  message(text: string): void {
    let event: PublishedEvent;
    try {
      event = JSON.parse(text) as PublishedEvent;
    } catch {
      // Only our scripts should publish here. Whoever else did must not end the process; a gap shows by the next seq.
      this.#options.log.error({ channel: this.#options.channel }, 'message on a channel is no JSON');
      return;
    }
    this.receive(new Outgoing(event));
  }

  subscribed(): void {
    this.#subscribedTimes++;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
    this.resume();
  }

  abstract lost(): void;

  /** An event came. */
  protected abstract receive(outgoing: Outgoing): void;

  /** Subscribed, maybe after a gap. */
  protected abstract resume(): void;
}
