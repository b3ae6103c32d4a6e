import { CLOSE_CODES } from '@yardmaster/protocol';
import type { OutgoingMessage } from '../messages.js';
import type { Session } from '../sockets/session.js';
import { Channel } from './channel.js';

/** The events of a space for a client whose init is not sent yet. */
interface EventBuffer {
  events: OutgoingMessage[];
  /** Whether some events may be missing. */
  isInterrupted: boolean;
}

/** The channel of one space, with the events of all its jobs. */
export class SpaceChannel extends Channel {
  readonly #sessions = new Set<Session>();
  readonly #buffers = new Set<EventBuffer>();

  /** Keep events from now on for a client whose init is not sent yet. */
  startBuffer(): EventBuffer {
    const buffer: EventBuffer = { events: [], isInterrupted: !this.isSubscribed };
    this.#buffers.add(buffer);
    return buffer;
  }

  /** Stop keeping events for a client. */
  dropBuffer(buffer: EventBuffer): void {
    this.#buffers.delete(buffer);
  }

  /**
   * Attach a session whose init has just been sent. It gets all events of its buffer, and all that follow.
   *
   * @returns a function that detaches it
   */
  attach(session: Session, buffer: EventBuffer): () => void {
    this.dropBuffer(buffer);
    for (const event of buffer.events) session.send(event);
    this.#sessions.add(session);
    if (buffer.isInterrupted) session.close(CLOSE_CODES.interrupted);
    return () => this.#sessions.delete(session);
  }

  /** Close the sessions, because a space has no history from which to replay. Its clients must start again. */
  lost(): void {
    for (const buffer of this.#buffers) buffer.isInterrupted = true;
    this.interrupt();
  }

  protected sessions(): Iterable<Session> {
    return this.#sessions;
  }

  protected receive(encoded: OutgoingMessage): void {
    for (const { events } of this.#buffers) events.push(encoded);
    for (const session of this.#sessions) session.send(encoded);
  }

  protected resume(): void {}
}
