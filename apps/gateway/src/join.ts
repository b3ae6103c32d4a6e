import { YardmasterError } from '@yardmaster/protocol';
import { isJobId, isoOf, readSnapshot, redisNow, type Snapshot, type Store } from '@yardmaster/store';
import type { StreamCaller } from './caller.js';
import type { Feeds } from './feeds.js';
import type { Holds } from './holds.js';
import { FramedNews } from './message.js';
import type { Session } from './session.js';

/** Sends a session its init and, from there on, everything that happens. */
export type Join = (session: Session) => void;

export interface JoinOptions {
  store: Store;
  feeds: Feeds;
  caller: StreamCaller;
  /** Gets what keeps the feed subscribed. */
  holds: Holds;
}

const ENDED: readonly string[] = ['completed', 'dead', 'killed'];

/** The message that completed a job, for a progress-scope client that came too late for it. */
function completionOf(jobId: string, { seq, jobName, spaceId, status, at, updatedAt }: Snapshot): FramedNews {
  // Its data can stay away: such a client is shown nothing of it but that and when it came.
  return new FramedNews({ seq, jobId, jobName, spaceId, type: 'completed', status, data: null, at: updatedAt ?? at });
}

/**
 * Prepare to stream a job: subscribe first, then read where it stands, so that nothing can lie between.
 *
 * @throws JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see spec §6.1, "init message"
 */
export async function prepareJob(jobId: string, { store, feeds, caller, holds }: JoinOptions): Promise<Join> {
  // Before it becomes the name of a channel.
  if (!isJobId(jobId)) throw new YardmasterError('JOB_NOT_FOUND');
  const feed = feeds.ofJob(jobId);
  holds.add(feed.hold());
  await feed.whenSubscribed(holds);
  const { subscribedTimes } = feed;
  const snapshot = await readSnapshot(store, caller, jobId);
  const { seq, logSeq, status, progress, at } = snapshot;
  const timestamp = isoOf(at);
  return (session) => {
    session.seq = seq;
    session.at = at;
    session.logSeq = logSeq;
    session.status = status;
    if (caller.scope === 'full') session.init(jobId, { jobId, type: 'init', status, timestamp });
    else session.init(jobId, { jobId, type: 'init', ...(progress ? { progress } : {}), timestamp });
    if (caller.scope === 'progress' && status === 'completed') session.deliver(completionOf(jobId, snapshot));
    if (ENDED.includes(status)) session.end();
    holds.add(feed.join(session, subscribedTimes));
  };
}

/**
 * Prepare to stream a space. Its init says since when the stream is complete; there is no other state to send.
 *
 * @throws UNAVAILABLE
 */
export async function prepareSpace(spaceId: string, { store, feeds, holds }: JoinOptions): Promise<Join> {
  const feed = feeds.ofSpace(spaceId);
  holds.add(feed.hold());
  await feed.whenSubscribed(holds);
  const arrival = feed.arrive();
  holds.add(() => feed.forget(arrival));
  const at = await redisNow(store);
  return (session) => {
    session.init(spaceId, { spaceId, type: 'init', timestamp: isoOf(at) });
    holds.add(feed.join(session, arrival));
  };
}
