import { CLOSE_CODES } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import type { Listener, Subscriptions } from '@yardmaster/store';
import type { Holds } from './holds.js';
import { FramedNews } from './message.js';
import { readPublished } from './published.js';
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
  readonly #waiting = new Set<() => void>();
  /** How often it was subscribed: whoever sees it change was without messages in between. */
  #subscribedTimes = 0;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Keep it subscribed until the function returned is called, once. */
  hold(): () => void {
    const { channel, subscriptions, onUnused } = this.#options;
    if (this.#holds++ === 0) subscriptions.add(channel, this);
    return () => {
      if (--this.#holds > 0) return;
      subscriptions.remove(channel);
      onUnused();
    };
  }

  /**
   * Wait until every message comes. Bound the wait: once `holds` are released it never resolves, so that whoever gave
   * up while Redis was away does not go on when it is back.
   */
  whenSubscribed(holds: Holds): Promise<void> {
    if (this.isSubscribed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
      holds.add(() => this.#waiting.delete(resolve));
    });
  }

  get isSubscribed(): boolean {
    return this.#options.subscriptions.hears(this.#options.channel);
  }

  get subscribedTimes(): number {
    return this.#subscribedTimes;
  }

  message(text: string): void {
    const { channel, log } = this.#options;
    const news = readPublished(text);
    if (news === null) {
      // Whoever published it must not end the process. If an event is missing for it, the next seq shows that.
      log.error({ channel }, 'message on a channel is no event');
      return;
    }
    try {
      this.receive(new FramedNews(news));
    } catch (err) {
      log.error({ err, channel, seq: news.seq }, 'event not delivered');
      for (const session of this.sessions) session.close(CLOSE_CODES.interrupted);
    }
  }

  subscribed(): void {
    this.#subscribedTimes++;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
    this.resume();
  }

  abstract lost(): void;

  /** An event came. */
  protected abstract receive(framed: FramedNews): void;

  /** Subscribed, maybe after a gap. */
  protected abstract resume(): void;
}
