import { setTimeout as delay } from 'node:timers/promises';
import { THIN_OUT_BYTES } from './outbox.js';
import type { Session } from './session.js';

/** How long all who are caught up together wait for the slower ones among them. */
const IN_ALL_MS = 2_000;
const STEP_MS = 5;

/**
 * Keeps what is read from a history, up to megabytes at once, from flooding clients that read as fast as they can:
 * they would be given up as too slow. But nobody waits long for a client that does not read.
 */
export class Patience {
  readonly #slow: ReadonlySet<Session>;
  #leftMs = IN_ALL_MS;

  /** @param sessions who is caught up; those who are slow already are not waited for */
  constructor(sessions: Iterable<Session>) {
    this.#slow = new Set([...sessions].filter((session) => !hasRoom(session)));
  }

  /** Wait until every client has room for more, as far as there is patience left. */
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

const hasRoom = ({ waitingBytes }: Session) => waitingBytes < THIN_OUT_BYTES / 2;
