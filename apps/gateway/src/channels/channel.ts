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

/** A channel and the sessions that watch it. It has a single subscription for as long as it is retained. */
export abstract class Channel<Options extends ChannelOptions = ChannelOptions> implements Listener {
  /** Number of functions returned by `retain` that have not been called yet. */
  #retained = 0;
  /** Resolves the promises of `whenSubscribed`. */
  readonly #waiting = new Set<() => void>();
  #subscribedTimes = 0;

  constructor(protected readonly options: Options) {}

  /** Keep the channel subscribed until the returned function is called. Call it only once. */
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
   * Wait until the channel is subscribed and receives every message.
   *
   * The caller must limit the wait. Once `releases` are released, the promise never resolves, so that a caller that gave up
   * while Redis was unavailable doesn't continue later.
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

  /** Number of subscriptions so far. If it changes, messages may have been missed in between. */
  get subscribedTimes(): number {
    return this.#subscribedTimes;
  }

  message(text: string): void {
    const { channel, log } = this.options;
    const event = readPublished(text);
    if (event === null) {
      // An invalid message must not crash the process. If an event is lost because of it, the next seq reveals that.
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

  /** Handle an event received on the channel. */
  protected abstract receive(encoded: OutgoingMessage): void;

  /** Resume after a subscription, before which messages may have been missed. */
  protected abstract resume(): void;

  /** Close all streams of the channel, because messages may be missing. Their clients reconnect. */
  protected interrupt(): void {
    for (const session of this.sessions()) session.close(CLOSE_CODES.interrupted);
  }
}
