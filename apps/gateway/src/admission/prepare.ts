import { isJobId, isTerminal, YardmasterError } from '@yardmaster/protocol';
import { isoOf, readSnapshot, redisNow, type Snapshot, type Store } from '@yardmaster/store';
import type { Channels } from '../channels/channels.js';
import { EmitSpaceChannel } from '../channels/emit-space-channel.js';
import { OutgoingMessage } from '../messages.js';
import type { Session } from '../sockets/session.js';
import type { AnonymousRule } from './anonymous.js';
import type { StreamCaller } from './caller.js';
import type { ReleaseStack } from './capacity.js';

/** Sends a session its init, and attaches it to its channel, so that it gets every later event. */
export type Attach = (session: Session) => void;

export interface PrepareOptions {
  store: Store;
  channels: Channels;
  caller: StreamCaller;
  anonymous: AnonymousRule;
  /** Gets the function that releases the channel, which stays subscribed until then. */
  releases: ReleaseStack;
}

/**
 * Prepare to stream a job. Subscribe first, and then read the snapshot, so that no event can be lost in between.
 *
 * @throws JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE; UNAUTHENTICATED without a token in a space that requires one
 * @see spec §6.1, "init message"
 */
export async function prepareJobStream(
  jobId: string,
  { store, channels, caller, releases, anonymous }: PrepareOptions,
): Promise<Attach> {
  // Check the id before it becomes the name of a channel.
  if (!isJobId(jobId)) throw new YardmasterError('JOB_NOT_FOUND');
  const channel = channels.ofJob(jobId);
  releases.add(channel.retain());
  await channel.whenSubscribed(releases);
  const { subscribedTimes } = channel;
  const isAnonymous = caller.keyId === null;
  const snapshot = await readSnapshot(store, caller, jobId).catch((error: unknown) => {
    throw isAnonymous ? anonymous.hidden(error) : error;
  });
  if (isAnonymous && !anonymous.isAllowedIn(snapshot.spaceId)) throw new YardmasterError('UNAUTHENTICATED');
  const { status, progress, at } = snapshot;
  const timestamp = isoOf(at);
  return (session) => {
    if (caller.scope === 'full') session.begin(jobId, { jobId, type: 'init', status, timestamp });
    else session.begin(jobId, { jobId, type: 'init', ...(progress ? { progress } : {}), timestamp });
    if (caller.scope === 'progress' && status === 'completed') session.send(completionOf(jobId, snapshot));
    if (isTerminal(status)) session.end(status);
    releases.add(channel.attach(session, snapshot, subscribedTimes));
  };
}

/**
 * Prepare to stream a space. The init contains the time from which the stream is complete. There is no other state to
 * send, except with COMPAT=emit.
 *
 * @param query of the stream's URL
 * @throws UNAVAILABLE
 */
export async function prepareSpaceStream(
  spaceId: string,
  query: URLSearchParams,
  { store, channels, releases }: PrepareOptions,
): Promise<Attach> {
  const channel = channels.ofSpace(spaceId);
  releases.add(channel.retain());
  await channel.whenSubscribed(releases);
  const buffer = channel.startBuffer();
  releases.add(() => channel.dropBuffer(buffer));
  const connected = channel instanceof EmitSpaceChannel ? await channel.connected(query) : null;
  const timestamp = connected?.timestamp ?? isoOf(await redisNow(store));
  return (session) => {
    session.begin(spaceId, { spaceId, type: 'init', timestamp });
    if (connected !== null) session.begin(spaceId, connected);
    releases.add(channel.attach(session, buffer));
  };
}

/** Return the event that completed a job, for a progress-scope client that came too late for it. */
function completionOf(jobId: string, { seq, jobName, spaceId, status, at, updatedAt }: Snapshot): OutgoingMessage {
  // The data is left out, because such a client sees only that the job completed, and when.
  return new OutgoingMessage({
    seq,
    jobId,
    jobName,
    spaceId,
    type: 'completed',
    status,
    data: null,
    at: updatedAt ?? at,
  });
}
