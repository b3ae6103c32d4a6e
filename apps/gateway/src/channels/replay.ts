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

/** Maximum attempts to read the history while Redis does not respond, and the time between them. */
const ATTEMPTS = 20;
const ATTEMPT_EVERY_MS = 250;

/** How long a replay waits in total for its slower clients. */
const DRAIN_MS = 2_000;
const DRAIN_STEP_MS = 5;

export interface ReplayOptions {
  jobId: string;
  store: Store;
  /** Tenant whose share of the read slots it uses; see tenantOf. '' for the live streams of several clients. */
  tenant: string;
  /** Clients of the replay, which may connect and disconnect while it runs. */
  subscribers: ReadonlySet<JobSubscriber>;
  /** Sends an event to each subscriber that needs exactly this one next. */
  sendEvent: (event: OutgoingMessage, seq: number) => void;
}

/**
 * Read the missed events of a job from its history and send them to subscribers, with a single append for all missed log
 * entries, placed among the events by the time of the newest entry.
 *
 * @returns the seq of the job's last event and its status then; null if no subscriber was left
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
    // Read the last event that each client knows as well, because it may have changed.
    const fromSeq = before.reduce((lowest, { cursor }) => Math.min(lowest, cursor.seq), Number.POSITIVE_INFINITY);
    const since = await readWithRetries(() => readSince(store, jobId, fromSeq), { store, subscribers, tenant });
    const { events, lastSeq } = since;
    last = { seq: lastSeq, status: since.status };
    // Seq of the oldest event read; if there is none, the next seq.
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
 * Close sessions that can't get the next event they need.
 *
 * Either the history has dropped that event, or Redis came up again without events that were already sent. Other, later
 * events may have taken the seqs of those.
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
 * Insert the append before the first event that happened after it, which may be in a later portion.
 *
 * It always precedes the end of the job, because some of its entries may be older than the end, and a client that stops at
 * the end would not learn of them.
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

/** Represent all logs of a job as one append, of which each client gets the part that it missed. */
function appendOf(jobId: string, { jobName, spaceId, status, newestLog }: Since): PublishedAppend {
  const { seq, at } = newestLog;
  const data = { fromSeq: 1, toSeq: seq, count: seq };
  return { seq: null, jobId, jobName, spaceId, type: 'logs_appended', status, data, at };
}

/** Read a portion of the history. Retry for a while, because a Redis that is coming up may not respond yet. */
async function readWithRetries(
  read: () => Promise<Since>,
  { store, subscribers, tenant }: Pick<ReplayOptions, 'store' | 'subscribers' | 'tenant'>,
): Promise<Since> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.slots.read(tenant, read);
    } catch (error) {
      // Redis does not respond, or too many reads are waiting.
      const mayPass = error instanceof YardmasterError && error.status === 503 && attempt < ATTEMPTS;
      if (!mayPass || subscribers.size === 0) throw error;
    }
    await delay(ATTEMPT_EVERY_MS);
  }
}

/**
 * Create a function that waits until every client has room for more, so that a replay doesn't flood clients.
 *
 * A replay may read several megabytes of a history at once. Without the wait, even fast clients would be closed as too slow.
 * It waits for at most DRAIN_MS in total, and never for a client that was already slow before the replay.
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
