import type { Status } from '@yardmaster/protocol';
import type { OutgoingMessage } from '../messages.js';
import type { Session } from '../sockets/session.js';

/** Position of a client in a job's events and logs, from its init and the messages after it. */
export interface Cursor {
  /** Seq of the last event. */
  seq: number;
  /** Time of the event `seq`, or of the init, in epoch milliseconds of Redis' clock. No event up to `seq` is later. */
  at: number;
  /** Seq of the newest log entry; 0 for none. */
  logSeq: number;
  status: Status;
}

/** `behind` when a client lacks earlier events, which must be read from Redis. */
export type SendOutcome = 'ok' | 'behind';

/** A session of a job stream, and the cursor of its client. Each message that is sent moves the cursor. */
export class JobSubscriber {
  readonly session: Session;
  readonly #cursor: Cursor;

  /** @param snapshot state that the init contained */
  constructor(session: Session, { seq, at, logSeq, status }: Cursor) {
    this.session = session;
    this.#cursor = { seq, at, logSeq, status };
  }

  get cursor(): Readonly<Cursor> {
    return this.#cursor;
  }

  /** Send the event that follows the last one. */
  sendNext(encoded: OutgoingMessage): void {
    this.#cursor.seq++;
    this.#cursor.at = encoded.event.at;
    this.#cursor.status = encoded.event.status;
    this.session.send(encoded);
  }

  /** Send an append of logs that follows the newest known entry. */
  sendAppend(encoded: OutgoingMessage, toSeq: number): void {
    this.#cursor.logSeq = toSeq;
    this.session.send(encoded);
  }
}
