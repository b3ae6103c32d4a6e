import { setTimeout as delay } from 'node:timers/promises';
import {
  CLOSE_CODES,
  isTerminal,
  type PublishedAppend,
  type PublishedEvent,
  type Status,
  YardmasterError,
} from '@yardmaster/protocol';
import { readSince, type Since, type Store } from '@yardmaster/store';
import { OutgoingMessage } from '../messages.js';
import { COALESCE_BYTES } from '../sockets/send-buffer.js';
import type { Session } from '../sockets/session.js';
import { type JobSubscriber, sendAppend } from './job-subscriber.js';

/** How often, and at what interval, the history is read while Redis does not respond. */
const ATTEMPTS = 20;
const ATTEMPT_EVERY_MS = 250;

/** How long one replay waits in total for the slower ones among its clients. */
const DRAIN_MS = 2_000;
const DRAIN_STEP_MS = 5;

export interface ReplayOptions {
  jobId: string;
  store: Store;
  /** Tenant whose share of the read slots it uses, see tenantOf; '' for the live streams of several clients. */
  tenant: string;
  /** Clients of the replay, which may come and go while it runs. */
  subscribers: ReadonlySet<JobSubscriber>;
  /** Sends an event to each subscriber that needs exactly this one next. */
  sendEvent: (event: OutgoingMessage, seq: number) => void;
}

/**
 * Read the missed events of a job from its history, and send them to subscribers, with one append for all missed log
 * entries.
 *
 * The time of the newest log entry gives the append its place among the events.
 *
 * @returns the seq of the job's last event, and its status then; null when no subscriber was left
 * @throws UNAVAILABLE, JOB_NOT_FOUND
 */
export async function replayMissed({
  jobId,
  store,
  tenant,
  subscribers,
  sendEvent,
}: ReplayOptions): Promise<{ seq: number; status: Status } | null> {
  const awaitDrain = createAwaitDrain(subscribers);
  let last = null;
  for (let isMore = true; isMore; ) {
    const before = [...subscribers].filter(({ session }) => !session.isClosing);
    if (before.length === 0) return null;
    // The last event that each client knows is read again, because it may have changed.
    const fromSeq = before.reduce((lowest, { cursor }) => Math.min(lowest, cursor.seq), Number.POSITIVE_INFINITY);
    const since = await readWithRetries(() => readSince(store, jobId, fromSeq), { store, subscribers, tenant });
    const { events, lastSeq } = since;
    last = { seq: lastSeq, status: since.status };
    // Seq of the oldest event that was read; without one, the seq that would come next.
    const firstSeq = events[0]?.seq ?? lastSeq + 1;
    closeLost(before, since, firstSeq);
    isMore = events.length > 0 && firstSeq + events.length <= lastSeq;
    for (const event of inOrder(events, appendOf(jobId, since), { isMore })) {
      await awaitDrain();
      if (event.type === 'logs_appended') sendAppend(subscribers, event, { isReplay: true });
      else sendEvent(new OutgoingMessage(event), event.seq);
    }
  }
  return last;
}

/**
 * Close sessions that cannot get the event that they need next.
 *
 * Either the history has dropped that event, or Redis returned with less than it had, without events that they were
 * sent. Other events may have taken the seqs of those events by now; they are later.
 */
function closeLost(subscribers: readonly JobSubscriber[], since: Since, firstSeq: number): void {
  const { events, lastSeq, newestLog } = since;
  for (const { session, cursor } of subscribers) {
    const lastKnown = events[cursor.seq - firstSeq];
    const hasLost = cursor.seq > lastSeq || cursor.logSeq > newestLog.seq;
    const isAnother = lastKnown !== undefined && lastKnown.at > cursor.at;
    if (firstSeq > cursor.seq + 1 || hasLost || isAnother) session.close(CLOSE_CODES.interrupted);
  }
}

/**
 * Put the append before the first event that came after it, which may be in a later portion.
 *
 * It goes before the end of the job in any case, because some of its entries may have come before the end. A client
 * that stops at the end would not learn of those entries.
 */
function inOrder(
  events: PublishedEvent[],
  append: PublishedAppend,
  { isMore }: { isMore: boolean },
): (PublishedEvent | PublishedAppend)[] {
  const place = events.findIndex(({ at, type }) => at >= append.at || isTerminal(type));
  if (place === -1) return isMore ? events : [...events, append];
  return [...events.slice(0, place), append, ...events.slice(place)];
}

/** Return all logs of a job as one append, of which each client gets the part that it has missed. */
function appendOf(jobId: string, { jobName, spaceId, status, newestLog }: Since): PublishedAppend {
  const { seq, at } = newestLog;
  const data = { fromSeq: 1, toSeq: seq, count: seq };
  return { seq: null, jobId, jobName, spaceId, type: 'logs_appended', status, data, at };
}

/** Read a portion of the history. Retry for a while, because a Redis that returns might not respond yet. */
async function readWithRetries(
  read: () => Promise<Since>,
  { store, subscribers, tenant }: Pick<ReplayOptions, 'store' | 'subscribers' | 'tenant'>,
): Promise<Since> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.slots.read(tenant, read);
    } catch (error) {
      // Redis does not respond, or too many reads wait.
      const mayPass = error instanceof YardmasterError && error.status === 503 && attempt < ATTEMPTS;
      if (!mayPass || subscribers.size === 0) throw error;
    }
    await delay(ATTEMPT_EVERY_MS);
  }
}

/**
 * Create a function that waits until every client has room for more, so that a replay does not flood clients.
 *
 * A replay reads up to megabytes of a history at once. Without the wait, clients that read as fast as they can would be
 * closed as too slow. But it waits only for DRAIN_MS in total, and never for a client that was slow before the replay.
 */
function createAwaitDrain(subscribers: ReadonlySet<JobSubscriber>): () => Promise<void> {
  const slow = new Set([...subscribers].filter(({ session }) => !hasRoom(session)));
  let leftMs = DRAIN_MS;

  function mustWait(): boolean {
    for (const subscriber of subscribers) {
      const { session } = subscriber;
      if (!session.isClosing && !hasRoom(session) && !slow.has(subscriber)) return true;
    }
    return false;
  }

  return async () => {
    while (leftMs > 0 && mustWait()) {
      await delay(DRAIN_STEP_MS);
      leftMs -= DRAIN_STEP_MS;
    }
  };
}

const hasRoom = ({ waitingBytes }: Session) => waitingBytes < COALESCE_BYTES / 2;
