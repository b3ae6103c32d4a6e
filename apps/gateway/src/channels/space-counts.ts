import { YardmasterError } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import { countJobs, isoOf, type Store } from '@yardmaster/store';
import type { Session } from '../sockets/session.js';

/** How often the counts are read and sent, at most. */
const EVERY_MS = 1_000;

/** How often they are read without a message, because jobs that are deleted or purged cause none. */
const ANYWAY_MS = 5_000;

/** Types of messages after which a job has the status that it had before. */
export const STATUS_STAYS: ReadonlySet<string> = new Set(['progress', 'checkpoint', 'event', 'logs_appended']);

/** Sends how many jobs of a space have each status to the sessions that asked for it, when that may have changed. */
export class SpaceCounts {
  readonly #store: Store;
  readonly #spaceId: string;
  readonly #log: Logger;
  readonly #sessions = new Set<Session>();
  #timer: NodeJS.Timeout | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  #isReading = false;
  #hasChanged = false;
  /** The counts that every session has, as JSON; '' when one may have others. */
  #sent = '';

  constructor({ store, spaceId, log }: { store: Store; spaceId: string; log: Logger }) {
    this.#store = store;
    this.#spaceId = spaceId;
    this.#log = log;
  }

  /** @param session whose init had the counts of a moment ago */
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

  /** Send the counts again, because they may be others now. */
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
    this.#timer = null;
    this.#isReading = true;
    this.#hasChanged = false;
    this.#readAt = performance.now();
    try {
      const { at, counts } = await countJobs(this.#store, this.#spaceId);
      const message = { spaceId: this.#spaceId, type: 'counts', counts, timestamp: isoOf(at) } as const;
      const text = JSON.stringify(counts);
      if (text !== this.#sent) for (const session of this.#sessions) session.sendCounts(message);
      this.#sent = text;
    } catch (err) {
      if (!(err instanceof YardmasterError)) this.#log.error({ err, spaceId: this.#spaceId }, 'counts not sent');
      this.#hasChanged = this.#sessions.size > 0; // Redis may be back in a second.
    } finally {
      this.#isReading = false;
    }
    if (this.#sessions.size > 0) this.#sendIn(this.#hasChanged ? EVERY_MS : ANYWAY_MS);
  }
}
