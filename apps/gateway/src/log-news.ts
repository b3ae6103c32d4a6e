import type { PublishedAppend, Status } from '@yardmaster/protocol';
import { FramedNews } from './message.js';
import type { Session } from './session.js';

interface Told {
  /** Whether it stands for all that was missed, told late. Each session then hears the status that it knows. */
  isPast: boolean;
}

/**
 * Tell sessions that logs were appended, each just what it has not heard of: every seq once and in order. One who has
 * missed earlier entries may have missed events, too, that come before these; so nothing is told live over a gap.
 *
 * @returns `behind` when there is such a session
 */
export function tellAppend(sessions: Iterable<Session>, append: PublishedAppend, { isPast }: Told): 'ok' | 'behind' {
  const { fromSeq, toSeq } = append.data;
  let outcome: 'ok' | 'behind' = 'ok';
  // Nearly always one: all sessions have heard the same.
  const framed = new Map<string, FramedNews>();
  for (const session of sessions) {
    if (session.isClosing) continue;
    const isBehind = !isPast && session.logSeq + 1 < fromSeq;
    if (isBehind) outcome = 'behind';
    if (isBehind || session.logSeq >= toSeq) continue;
    const status = isPast ? session.status : append.status;
    const key = `${session.logSeq} ${status}`;
    const news = framed.get(key) ?? new FramedNews(after(append, session.logSeq, status));
    framed.set(key, news);
    session.logSeq = toSeq;
    session.deliver(news);
  }
  return outcome;
}

/** An append as it is told to those who have heard of all seqs up to one, and of none above. */
function after(append: PublishedAppend, heardSeq: number, status: Status): PublishedAppend {
  const { toSeq } = append.data;
  return { ...append, status, data: { fromSeq: heardSeq + 1, toSeq, count: toSeq - heardSeq } };
}
