import type { PublishedAppend, Status } from '@yardmaster/protocol';
import { EncodedEvent } from '../messages.js';
import type { Session } from '../sockets/session.js';

interface AppendOptions {
  /** Whether it stands for all appends that were missed. Each session then gets the status that it knows. */
  isPast: boolean;
}

/**
 * Report to sessions that logs were appended. Each session gets only the seqs that it does not know, once and in order.
 *
 * A session that has missed earlier entries may also have missed events that come before these entries. So a live
 * append is not sent to a session with such a gap.
 *
 * @returns `behind` when there is such a session
 */
export function sendAppend(
  sessions: Iterable<Session>,
  append: PublishedAppend,
  { isPast }: AppendOptions,
): 'ok' | 'behind' {
  const { fromSeq, toSeq } = append.data;
  let outcome: 'ok' | 'behind' = 'ok';
  // Nearly always one, because all sessions know the same seqs.
  const encoded = new Map<string, EncodedEvent>();
  for (const session of sessions) {
    if (session.isClosing) continue;
    const isBehind = !isPast && session.logSeq + 1 < fromSeq;
    if (isBehind) outcome = 'behind';
    if (isBehind || session.logSeq >= toSeq) continue;
    const status = isPast ? session.status : append.status;
    const key = `${session.logSeq} ${status}`;
    const news = encoded.get(key) ?? new EncodedEvent(after(append, session.logSeq, status));
    encoded.set(key, news);
    session.logSeq = toSeq;
    session.send(news);
  }
  return outcome;
}

/** Return an append for sessions that know all seqs up to `heardSeq`, and none above. */
function after(append: PublishedAppend, heardSeq: number, status: Status): PublishedAppend {
  const { toSeq } = append.data;
  return { ...append, status, data: { fromSeq: heardSeq + 1, toSeq, count: toSeq - heardSeq } };
}
