import { CLOSE_CODES } from '@yardmaster/protocol';
import type { Store } from '@yardmaster/store';
import type { OutgoingMessage } from '../messages.js';
import type { Session } from '../sockets/session.js';
import { Channel, type ChannelOptions } from './channel.js';
import { SpaceCounts, STATUS_STAYS } from './space-counts.js';

export interface SpaceChannelOptions extends ChannelOptions {
  spaceId: string;
  store: Store;
}

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
  readonly #counts: SpaceCounts;

  constructor(options: SpaceChannelOptions) {
    super(options);
    this.#counts = new SpaceCounts(options);
  }

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
   * @param hasCounts whether it gets the counts of the space, too
   * @returns a function that detaches it
   */
  attach(session: Session, buffer: EventBuffer, hasCounts: boolean): () => void {
    this.dropBuffer(buffer);
    for (const event of buffer.events) session.send(event);
    if (hasCounts) this.#counts.add(session);
    if (buffer.events.length > 0) this.#counts.changed(); // Its counts may be those of before these events.
    this.#sessions.add(session);
    if (buffer.isInterrupted) session.close(CLOSE_CODES.interrupted);
    return () => {
      this.#sessions.delete(session);
      this.#counts.delete(session);
    };
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
    if (!STATUS_STAYS.has(encoded.event.type)) this.#counts.changed();
  }

  protected resume(): void {}
}
