import type { PublishedAppend, Status } from '@yardmaster/protocol';
import { FramedNews } from './message.js';
import type { Session } from './session.js';

/**
 * Tell sessions that logs were appended, each just what it has not heard of: every seq once and in order, whatever it
 * has missed. So one message may stand for several appends.
 *
 * @param isPast whether it is told late, among events that are older than the job's status of now: each session then
 *   hears the status that it knows
 */
export function tellAppend(sessions: Iterable<Session>, append: PublishedAppend, { isPast = false } = {}): void {
  const { toSeq } = append.data;
  // Nearly always one: all sessions have heard the same.
  const framed = new Map<string, FramedNews>();
  for (const session of sessions) {
    if (session.logSeq >= toSeq) continue;
    const status = isPast ? session.status : append.status;
    const key = `${session.logSeq} ${status}`;
    const news = framed.get(key) ?? new FramedNews(after(append, session.logSeq, status));
    framed.set(key, news);
    session.logSeq = toSeq;
    session.deliver(news);
  }
}

/** An append as it is told to those who have heard of all seqs up to one, and of none above. */
function after(append: PublishedAppend, heardSeq: number, status: Status): PublishedAppend {
  const { toSeq } = append.data;
  return { ...append, status, data: { fromSeq: heardSeq + 1, toSeq, count: toSeq - heardSeq } };
}
