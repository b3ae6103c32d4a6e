import { CLOSE_CODES, YardmasterError } from '@yardmaster/protocol';
import { countJobs, isoOf, type Store } from '@yardmaster/store';
import type { OutgoingMessage } from '../messages.js';
import type { Session } from '../sockets/session.js';
import { Channel, type ChannelOptions } from './channel.js';

export interface SpaceChannelOptions extends ChannelOptions {
  spaceId: string;
  store: Store;
}

/** Events of a space buffered for a client whose init has not been sent yet. */
interface EventBuffer {
  events: OutgoingMessage[];
  /** Whether some events may be missing. */
  isInterrupted: boolean;
}

/** The channel of a space, with the events of all its jobs. */
export class SpaceChannel extends Channel<SpaceChannelOptions> {
  readonly #sessions = new Set<Session>();
  readonly #buffers = new Set<EventBuffer>();
  readonly #counts = new SpaceCounts(this.options);

  /** Start to buffer events for a client whose init has not been sent yet. */
  startBuffer(): EventBuffer {
    const buffer: EventBuffer = { events: [], isInterrupted: !this.isSubscribed };
    this.#buffers.add(buffer);
    return buffer;
  }

  dropBuffer(buffer: EventBuffer): void {
    this.#buffers.delete(buffer);
  }

  /**
   * Attach a session whose init has just been sent. It gets the events in its buffer and all that follow.
   *
   * @param hasCounts whether it also gets the counts of the space
   * @returns a function that detaches the session
   */
  attach(session: Session, buffer: EventBuffer, hasCounts: boolean): () => void {
    this.dropBuffer(buffer);
    for (const event of buffer.events) session.send(event);
    if (hasCounts) this.#counts.add(session);
    if (buffer.events.length > 0) this.#counts.changed(); // The counts in its init may be older than these events.
    this.#sessions.add(session);
    if (buffer.isInterrupted) session.close(CLOSE_CODES.interrupted);
    return () => {
      this.#sessions.delete(session);
      this.#counts.delete(session);
    };
  }

  /** Close the sessions, because a space has no history to replay. Its clients must start over. */
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

/** Minimum time between two reads of the counts. */
const EVERY_MS = 1_000;

/** Time between two reads without a message, because deleted and purged jobs cause none. */
const ANYWAY_MS = 5_000;

/** Types of messages that do not change the status of a job. */
export const STATUS_STAYS: ReadonlySet<string> = new Set(['progress', 'checkpoint', 'event', 'logs_appended']);

/** Sends the counts of a space by status to the sessions that asked for them, whenever they may have changed. */
class SpaceCounts {
  readonly #sessions = new Set<Session>();
  #timer: NodeJS.Timeout | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  #isReading = false;
  #hasChanged = false;
  /** Counts that every session has, as JSON; '' if some session may have others. */
  #sent = '';

  constructor(private readonly options: SpaceChannelOptions) {}

  /** Add a session whose init contained recent counts. */
  add(session: Session): void {
    this.#sessions.add(session);
    this.#sent = '';
    if (this.#timer === null && !this.#isReading) this.#sendIn(ANYWAY_MS);
  }

  delete(session: Session): void {
    this.#sessions.delete(session);
    if (this.#sessions.size > 0) return;
    this.#hasChanged = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Send the counts again, because they may have changed. */
  changed(): void {
    if (this.#sessions.size === 0 || this.#hasChanged) return;
    this.#hasChanged = true;
    if (!this.#isReading) this.#sendIn(this.#readAt + EVERY_MS - performance.now());
  }

  #sendIn(ms: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#send(), Math.max(0, ms));
  }

  async #send(): Promise<void> {
    const { store, spaceId, log } = this.options;
    this.#timer = null;
    this.#isReading = true;
    this.#hasChanged = false;
    this.#readAt = performance.now();
    try {
      const { at, counts } = await countJobs(store, spaceId);
      const message = { spaceId, type: 'counts', counts, timestamp: isoOf(at) } as const;
      const text = JSON.stringify(counts);
      if (text !== this.#sent) for (const session of this.#sessions) session.sendCounts(message);
      this.#sent = text;
    } catch (err) {
      if (!(err instanceof YardmasterError)) log.error({ err, spaceId }, 'counts not sent');
      this.#hasChanged = this.#sessions.size > 0; // Retry in a second.
    } finally {
      this.#isReading = false;
    }
    if (this.#sessions.size > 0) this.#sendIn(this.#hasChanged ? EVERY_MS : ANYWAY_MS);
  }
}
