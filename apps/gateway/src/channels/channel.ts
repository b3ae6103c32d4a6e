import { CLOSE_CODES } from '@yardmaster/protocol';
import type { Listener, SharedSubscriptions } from '@yardmaster/redis';
import type { Logger } from '@yardmaster/runtime';
import type { ReleaseStack } from '../admission/capacity.js';
import { OutgoingMessage, readPublished } from '../messages.js';
import type { Session } from '../sockets/session.js';

export interface ChannelOptions {
  channel: string;
  subscriptions: SharedSubscriptions;
  log: Logger;
  /** Called when the last session releases the channel, which is then unsubscribed. */
  onUnused: () => void;
}

/** One channel and the sessions that watch it. It is subscribed once, as long as it is retained. */
export abstract class Channel<Options extends ChannelOptions = ChannelOptions> implements Listener {
  /** Functions that `retain` has returned and that were not called yet. */
  #retained = 0;
  /** Resolves the promises of `whenSubscribed`. */
  readonly #waiting = new Set<() => void>();
  #subscribedTimes = 0;

  constructor(protected readonly options: Options) {}

  /** Keep the channel subscribed until the returned function is called, which must happen only once. */
  retain(): () => void {
    const { channel, subscriptions, onUnused } = this.options;
    if (this.#retained++ === 0) subscriptions.add(channel, this);
    return () => {
      if (--this.#retained > 0) return;
      subscriptions.remove(channel, this);
      onUnused();
    };
  }

  /**
   * Wait until the channel is subscribed, so that every message comes.
   *
   * The caller must bound the wait. Once `releases` are released, the promise never resolves. A caller that gave up
   * while Redis was unavailable then does not continue later.
   */
  whenSubscribed(releases: ReleaseStack): Promise<void> {
    if (this.isSubscribed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
      releases.add(() => this.#waiting.delete(resolve));
    });
  }

  get isSubscribed(): boolean {
    return this.options.subscriptions.isSubscribed(this.options.channel);
  }

  /** Number of subscriptions so far. When it has changed, there was a time without messages in between. */
  get subscribedTimes(): number {
    return this.#subscribedTimes;
  }

  message(text: string): void {
    const { channel, log } = this.options;
    const event = readPublished(text);
    if (event === null) {
      // An invalid message must not end the process. If an event is missing because of it, the next seq shows that.
      log.error({ channel }, 'message on a channel is not an event');
      return;
    }
    try {
      this.receive(new OutgoingMessage(event));
    } catch (err) {
      log.error({ err, channel, seq: event.seq }, 'event not sent');
      this.interrupt();
    }
  }

  subscribed(): void {
    this.#subscribedTimes++;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
    this.resume();
  }

  abstract lost(): void;

  protected abstract sessions(): Iterable<Session>;

  /** Handle an event that came over the channel. */
  protected abstract receive(encoded: OutgoingMessage): void;

  /** Continue after a subscription, which may follow a gap. */
  protected abstract resume(): void;

  /** Close all streams of the channel, because messages may be missing. Their clients connect again. */
  protected interrupt(): void {
    for (const session of this.sessions()) session.close(CLOSE_CODES.interrupted);
  }
}
