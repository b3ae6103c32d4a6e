import { setTimeout as delay } from 'node:timers/promises';
import { COALESCE_BYTES } from '../sockets/send-buffer.js';
import type { Session } from '../sockets/session.js';

/** How long one replay waits in total for the slower ones among its sessions. */
const IN_ALL_MS = 2_000;
const STEP_MS = 5;

/**
 * Slows down a replay, so that it does not flood clients that read as fast as they can.
 *
 * A replay reads up to megabytes of a history at once. Without the wait, such clients would be closed as too slow. But
 * the replay does not wait long for a client that does not read.
 */
export class DrainWait {
  readonly #slow: ReadonlySet<Session>;
  #leftMs = IN_ALL_MS;

  /** @param sessions those that get the replay; it does not wait for those that are slow already */
  constructor(sessions: Iterable<Session>) {
    this.#slow = new Set([...sessions].filter((session) => !hasRoom(session)));
  }

  /** Wait until every client has room for more, or until the time of the drain wait is used up. */
  async waitFor(sessions: Iterable<Session>): Promise<void> {
    while (this.#leftMs > 0 && this.#mustWaitFor(sessions)) {
      await delay(STEP_MS);
      this.#leftMs -= STEP_MS;
    }
  }

  #mustWaitFor(sessions: Iterable<Session>): boolean {
    for (const session of sessions) {
      if (!session.isClosing && !hasRoom(session) && !this.#slow.has(session)) return true;
    }
    return false;
  }
}

const hasRoom = ({ waitingBytes }: Session) => waitingBytes < COALESCE_BYTES / 2;
