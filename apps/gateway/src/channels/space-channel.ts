import { CLOSE_CODES } from '@yardmaster/protocol';
import type { EncodedEvent } from '../messages.js';
import type { Session } from '../sockets/session.js';
import { Channel } from './channel.js';

/** A client whose stream is being opened. */
interface Arrival {
  /** Events that have come since the arrival. */
  events: EncodedEvent[];
  /** Whether some of these events may be missing. */
  isInterrupted: boolean;
}

/** The channel of one space, with the events of all its jobs. */
export class SpaceChannel extends Channel {
  readonly #arrivals = new Set<Arrival>();

  /** Keep events from now on for a client whose init is not sent yet. */
  arrive(): Arrival {
    const arrival: Arrival = { events: [], isInterrupted: !this.isSubscribed };
    this.#arrivals.add(arrival);
    return arrival;
  }

  /** Stop keeping events for a client. */
  forget(arrival: Arrival): void {
    this.#arrivals.delete(arrival);
  }

  /**
   * Attach a session whose init has just been sent. It gets all events since its arrival, and all that follow.
   *
   * @returns a function that detaches it
   */
  attach(session: Session, arrival: Arrival): () => void {
    this.forget(arrival);
    for (const event of arrival.events) session.send(event);
    this.sessions.add(session);
    if (arrival.isInterrupted) session.close(CLOSE_CODES.interrupted);
    return () => this.sessions.delete(session);
  }

  /** Close the sessions, because a space has no history from which to replay. Its clients must start again. */
  lost(): void {
    for (const arrival of this.#arrivals) arrival.isInterrupted = true;
    for (const session of this.sessions) session.close(CLOSE_CODES.interrupted);
  }

  protected receive(encoded: EncodedEvent): void {
    for (const { events } of this.#arrivals) events.push(encoded);
    for (const session of this.sessions) session.send(encoded);
  }

  protected resume(): void {}
}
