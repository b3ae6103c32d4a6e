import { setTimeout as delay } from 'node:timers/promises';
import {
  CLOSE_CODES,
  type PublishedAppend,
  type PublishedEvent,
  type PublishedNews,
  YardmasterError,
} from '@yardmaster/protocol';
import { readSince, type Since, type Store } from '@yardmaster/store';
import { EncodedEvent, isTerminal } from '../messages.js';
import type { Session } from '../sockets/session.js';
import { DrainWait } from './drain-wait.js';
import { sendAppend } from './log-appends.js';

/** How often, and at what interval, the history is read while Redis does not respond. */
const ATTEMPTS = 20;
const ATTEMPT_EVERY_MS = 250;

export interface ReplayOptions {
  jobId: string;
  store: Store;
  /** Sessions that watch the job. They come and go during the replay. */
  sessions: ReadonlySet<Session>;
  /** Sends an event to each session that needs exactly this one next. */
  deliver: (event: EncodedEvent, seq: number) => void;
}

/**
 * Read what sessions have missed of a job from its history, and send it: the events, and that logs were appended.
 *
 * The time of the newest log entry gives the append its place among the events.
 *
 * @throws UNAVAILABLE, JOB_NOT_FOUND
 */
export async function replayMissed({ jobId, store, sessions, deliver }: ReplayOptions): Promise<void> {
  const drainWait = new DrainWait(sessions);
  for (let isMore = true; isMore; ) {
    const before = [...sessions].filter(({ isClosing }) => !isClosing);
    if (before.length === 0) return;
    // The last event that each session knows is read again, because it may have changed.
    const fromSeq = before.reduce((lowest, { seq }) => Math.min(lowest, seq), Number.POSITIVE_INFINITY);
    const since = await readWithRetries(() => readSince(store, jobId, fromSeq), { store, sessions });
    const { events, lastSeq } = since;
    // Seq of the oldest event that was read; when there is none, the seq that would come next.
    const firstSeq = events[0]?.seq ?? lastSeq + 1;
    closeLost(before, since, firstSeq);
    isMore = events.length > 0 && firstSeq + events.length <= lastSeq;
    for (const news of inOrder(events, appendOf(jobId, since), { isMore })) {
      await drainWait.waitFor(sessions);
      if (news.seq === null) sendAppend(sessions, news, { isPast: true });
      else deliver(new EncodedEvent(news), news.seq);
    }
  }
}

/**
 * Close sessions that cannot get the event that they need next.
 *
 * Either the history has dropped that event, or Redis came back with less than it had, without events that they were
 * sent. Other events may have taken the seqs of those events by now; they are later.
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
 * Put the append before the first event that came after it, which may be in a later portion.
 *
 * It goes before the end of the job in any case, because some of its entries may have come before the end. A client
 * that stops at the end would not learn of those entries.
 */
function inOrder(events: PublishedEvent[], append: PublishedAppend, { isMore }: { isMore: boolean }): PublishedNews[] {
  const place = events.findIndex(({ at, type }) => at >= append.at || isTerminal(type));
  if (place === -1) return isMore ? events : [...events, append];
  return [...events.slice(0, place), append, ...events.slice(place)];
}

/** Return all logs of a job as one append, of which each session gets the part that it has missed. */
function appendOf(jobId: string, { jobName, spaceId, status, newestLog }: Since): PublishedAppend {
  const { seq, at } = newestLog;
  const data = { fromSeq: 1, toSeq: seq, count: seq };
  return { seq: null, jobId, jobName, spaceId, type: 'logs_appended', status, data, at };
}

/** Read a portion of the history. Retry for a while, because a Redis that comes back may not respond yet. */
async function readWithRetries(
  read: () => Promise<Since>,
  { store, sessions }: Pick<ReplayOptions, 'store' | 'sessions'>,
): Promise<Since> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.withReadSlot('', read);
    } catch (error) {
      const mayPass = error instanceof YardmasterError && error.code === 'UNAVAILABLE' && attempt < ATTEMPTS;
      if (!mayPass || sessions.size === 0) throw error;
    }
    await delay(ATTEMPT_EVERY_MS);
  }
}
