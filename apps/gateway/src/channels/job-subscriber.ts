import type { PublishedAppend, Status } from '@yardmaster/protocol';
import { OutgoingMessage } from '../messages.js';
import type { Session } from '../sockets/session.js';

/** Position of a client in a job's events and logs, according to its init and the messages sent since. */
export interface Cursor {
  /** Seq of the last event. */
  seq: number;
  /** Time of that event, or of the init, in epoch milliseconds by Redis's clock. No event up to `seq` is later. */
  at: number;
  /** Seq of the newest log entry; 0 for none. */
  logSeq: number;
  status: Status;
}

/** `behind` if a client lacks earlier events, which must be read from Redis. */
export type SendOutcome = 'ok' | 'behind';

/** A session of a job stream with the cursor of its client. Each message sent advances the cursor. */
export class JobSubscriber {
  readonly session: Session;
  readonly #cursor: Cursor;

  /** @param snapshot state sent in the init */
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

  /** Send a log append that follows the newest known entry. */
  sendAppend(encoded: OutgoingMessage, toSeq: number): void {
    this.#cursor.logSeq = toSeq;
    this.session.send(encoded);
  }
}

interface AppendOptions {
  /** Whether it replaces all missed appends. Each client then gets the status that it already knows. */
  isReplay: boolean;
}

/**
 * Report a log append to subscribers. Each client gets only the seqs that it doesn't know yet, once and in order.
 *
 * A client that has missed earlier entries may also have missed events before these entries, so it doesn't get a live
 * append.
 */
export function sendAppend(
  subscribers: Iterable<JobSubscriber>,
  append: PublishedAppend,
  { isReplay }: AppendOptions,
): SendOutcome {
  const { fromSeq, toSeq } = append.data;
  let outcome: SendOutcome = 'ok';
  // Almost always just one, because all clients know the same seqs.
  const encodedParts = new Map<string, OutgoingMessage>();
  for (const subscriber of subscribers) {
    if (subscriber.session.isClosing) continue;
    const { logSeq, status: knownStatus } = subscriber.cursor;
    const isBehind = !isReplay && logSeq + 1 < fromSeq;
    if (isBehind) outcome = 'behind';
    if (isBehind || logSeq >= toSeq) continue;
    const status = isReplay ? knownStatus : append.status;
    const key = `${logSeq} ${status}`;
    const encoded = encodedParts.get(key) ?? new OutgoingMessage(partAfter(append, logSeq, status));
    encodedParts.set(key, encoded);
    subscriber.sendAppend(encoded, toSeq);
  }
  return outcome;
}

/** Return the part of an append that is new to clients that know all seqs up to `logSeq`. */
function partAfter(append: PublishedAppend, logSeq: number, status: Status): PublishedAppend {
  const { toSeq } = append.data;
  return { ...append, status, data: { fromSeq: logSeq + 1, toSeq, count: toSeq - logSeq } };
}
