import { CLOSE_CODES } from '@yardmaster/protocol';
import { Feed } from './feed.js';
import type { FramedNews } from './message.js';
import type { Session } from './session.js';

/** A client that is being let in. */
interface Arrival {
  /** What has come since. */
  events: FramedNews[];
  /** Whether some of it may be missing. */
  isInterrupted: boolean;
}

/** The events of all jobs of one space. */
export class SpaceFeed extends Feed {
  readonly #arrivals = new Set<Arrival>();

  /** Keep what comes from now on for a client whose init is not sent yet. */
  arrive(): Arrival {
    const arrival: Arrival = { events: [], isInterrupted: !this.isSubscribed };
    this.#arrivals.add(arrival);
    return arrival;
  }

  /** Keep nothing for a client any more. */
  forget(arrival: Arrival): void {
    this.#arrivals.delete(arrival);
  }

  /**
   * Let a session in, whose init has just been sent: all that came since its arrival, and all that comes.
   *
   * @returns a function that takes it out
   */
  join(session: Session, arrival: Arrival): () => void {
    this.forget(arrival);
    for (const event of arrival.events) session.deliver(event);
    this.sessions.add(session);
    if (arrival.isInterrupted) session.close(CLOSE_CODES.interrupted);
    return () => this.sessions.delete(session);
  }

  /** A space has no history from which to read what was missed; its clients start anew. */
  lost(): void {
    for (const arrival of this.#arrivals) arrival.isInterrupted = true;
    for (const session of this.sessions) session.close(CLOSE_CODES.interrupted);
  }

  protected receive(framed: FramedNews): void {
    for (const { events } of this.#arrivals) events.push(framed);
    for (const session of this.sessions) session.deliver(framed);
  }

  protected resume(): void {}
}
