import { setTimeout as delay } from 'node:timers/promises';
import {
  CLOSE_CODES,
  type PublishedAppend,
  type PublishedEvent,
  type PublishedNews,
  YardmasterError,
} from '@yardmaster/protocol';
import { readSince, type Since, type Store } from '@yardmaster/store';
import { tellAppend } from './log-news.js';
import { FramedNews, isTerminal } from './message.js';
import { Patience } from './patience.js';
import type { Session } from './session.js';

/** How often, and how far apart, what was missed is asked for while Redis does not answer. */
const ATTEMPTS = 20;
const ATTEMPT_EVERY_MS = 250;

export interface MissedOptions {
  jobId: string;
  store: Store;
  /** Who watches the job; they come and go meanwhile. */
  sessions: ReadonlySet<Session>;
  /** Passes an event on to whoever needs just this one next. */
  deliver: (event: FramedNews, seq: number) => void;
}

/**
 * Read what sessions have missed of a job from its history, and send it: the events, and that logs were appended. The
 * newest log entry says when that was, so that it is told in its place among the events.
 *
 * @throws UNAVAILABLE, JOB_NOT_FOUND
 */
export async function sendMissed({ jobId, store, sessions, deliver }: MissedOptions): Promise<void> {
  const patience = new Patience(sessions);
  for (let isMore = true; isMore; ) {
    const before = [...sessions].filter(({ isClosing }) => !isClosing);
    if (before.length === 0) return;
    // The last that each knows is read again: it may not be what it was.
    const fromSeq = before.reduce((lowest, { seq }) => Math.min(lowest, seq), Number.POSITIVE_INFINITY);
    const since = await readPatiently(() => readSince(store, jobId, fromSeq), { store, sessions });
    const { events, lastSeq } = since;
    // The oldest that is left; when nothing is new, the one that would come next.
    const firstSeq = events[0]?.seq ?? lastSeq + 1;
    closeLost(before, since, firstSeq);
    isMore = events.length > 0 && firstSeq + events.length <= lastSeq;
    for (const news of inOrder(events, appendOf(jobId, since), { isMore })) {
      await patience.waitFor(sessions);
      if (news.seq === null) tellAppend(sessions, news, { isPast: true });
      else deliver(new FramedNews(news), news.seq);
    }
  }
}

/**
 * Close those who cannot be told what they need next: the history has dropped it, or Redis came back with less than it
 * had, and what they were shown did not last. Other events may have taken its place by now, which are later.
 */
function closeLost(sessions: readonly Session[], { events, lastSeq, newestLog }: Since, firstSeq: number): void {
  for (const session of sessions) {
    const lastKnown = events[session.seq - firstSeq];
    const hasLost = session.seq > lastSeq || session.logSeq > newestLog.seq;
    const isAnother = lastKnown !== undefined && lastKnown.at > session.at;
    if (firstSeq > session.seq + 1 || hasLost || isAnother) session.close(CLOSE_CODES.interrupted);
  }
}

/**
 * Put the append before the first event that came after it, which may be in a later portion. But before the end of the
 * job in any case: some of it may have come before, and whoever stops at the end would not hear of that.
 */
function inOrder(events: PublishedEvent[], append: PublishedAppend, { isMore }: { isMore: boolean }): PublishedNews[] {
  const place = events.findIndex(({ at, type }) => at >= append.at || isTerminal(type));
  if (place === -1) return isMore ? events : [...events, append];
  return [...events.slice(0, place), append, ...events.slice(place)];
}

/** All logs there are, as one append: each session is told the part that it has missed. */
function appendOf(jobId: string, { jobName, spaceId, status, newestLog }: Since): PublishedAppend {
  const { seq, at } = newestLog;
  const data = { fromSeq: 1, toSeq: seq, count: seq };
  return { seq: null, jobId, jobName, spaceId, type: 'logs_appended', status, data, at };
}

/** Ask for a portion of the history; for a while also when Redis, coming back, does not answer yet. */
async function readPatiently(
  read: () => Promise<Since>,
  { store, sessions }: Pick<MissedOptions, 'store' | 'sessions'>,
): Promise<Since> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.inTurn('', read);
    } catch (error) {
      const mayPass = error instanceof YardmasterError && error.code === 'UNAVAILABLE' && attempt < ATTEMPTS;
      if (!mayPass || sessions.size === 0) throw error;
    }
    await delay(ATTEMPT_EVERY_MS);
  }
}
