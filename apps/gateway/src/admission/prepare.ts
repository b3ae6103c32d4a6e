import { createHmac, randomBytes } from 'node:crypto';
import { type InitMessage, isJobId, isTerminal, type PublishedEvent, YardmasterError } from '@yardmaster/protocol';
import { countJobs, isoOf, readSince, readSnapshot, redisNow, type Snapshot, type Store } from '@yardmaster/store';
import type { Channels } from '../channels/channels.js';
import { EmitSpaceChannel } from '../channels/emit-space-channel.js';
import { formOf, OutgoingMessage } from '../messages.js';
import { HIDDEN_END_MS, isEndHidden, type Session } from '../sockets/session.js';
import { type AnonymousRule, otherStreams, type StreamCaller } from './caller.js';
import type { ReleaseStack } from './capacity.js';
import type { StreamRequest } from './stream-request.js';

/** Sends a session its init and attaches it to its channel, so that it gets every later event. */
export type Attach = (session: Session) => void;

export interface PrepareOptions {
  store: Store;
  channels: Channels;
  caller: StreamCaller;
  request: StreamRequest;
  anonymous: AnonymousRule;
  /** Receives the function that releases the channel, which stays subscribed until then. */
  releases: ReleaseStack;
}

/**
 * Prepare to stream a job: subscribe first, then read the snapshot, so that no event is lost in between.
 *
 * @returns null if nothing is left to send to a client that reconnects on its own
 * @throws JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE; UNAUTHENTICATED without a token in a space that requires one
 * @see docs/streams.md#messages
 */
export async function prepareJobStream(
  jobId: string,
  { store, channels, caller, request, releases, anonymous }: PrepareOptions,
): Promise<Attach | null> {
  // Check the ID before it becomes part of a channel name.
  if (!isJobId(jobId)) throw new YardmasterError('JOB_NOT_FOUND');
  const channel = channels.ofJob(jobId);
  releases.add(channel.retain());
  await channel.whenSubscribed(releases);
  const { subscribedTimes } = channel;
  const isAnonymous = caller.keyId === null;
  const snapshot = await readSnapshot(store, caller, jobId).catch((error: unknown) => {
    throw isAnonymous ? anonymous.hidden(error) : error;
  });
  const tag = caller.grant?.tag ?? null;
  const isAllowed = (tags: readonly string[] = snapshot.tags) =>
    isAnonymous ? anonymous.isAllowedIn(snapshot.spaceId) : tag === null || tags.includes(tag);
  if (!isAllowed()) throw isAnonymous ? new YardmasterError('UNAUTHENTICATED') : otherStreams();
  const { status, progress, at } = snapshot;
  const timestamp = isoOf(at);
  const { seq, missed } = beginningOf(snapshot, request.since);
  const shownSeq = caller.scope === 'full' ? seq : shownToProgress(request, seq, snapshot);
  // The client hasn't seen the end, or Redis came up again without the end that the client has seen.
  const isAtPresent = request.since === null || request.since > snapshot.seq;
  if (request.isEventStream && !isAtPresent && (await isOver(jobId, { store, caller, snapshot, seq }))) return null;
  return (session) => {
    const position = request.since === null ? {} : { seq: shownSeq, ...(missed && { missed }) };
    const state = caller.scope === 'full' ? { status } : progress && { progress };
    session.stayWhile(isAllowed);
    session.begin(jobId, { jobId, type: 'init', ...state, timestamp, ...position } as InitMessage, shownSeq);
    const isLate = isAtPresent && caller.scope === 'progress' && status === 'completed';
    if (isLate) session.send(completionOf(jobId, snapshot));
    releases.add(channel.attach(session, snapshot, seq, subscribedTimes));
  };
}

/**
 * Return the seq after which a stream starts, and whether the client has missed events that can't be sent: the history has
 * dropped them, or Redis came up again without events that the client has seen.
 */
function beginningOf({ seq, droppedSeq }: Snapshot, since: number | null): { seq: number; missed?: true } {
  if (since === null) return { seq };
  if (since > seq) return { seq, missed: true };
  if (since < droppedSeq) return { seq: droppedSeq, ...(droppedSeq > 1 && { missed: true }) };
  return { seq: since };
}

/**
 * Return the seq to show in the init of a progress-scope stream. It must not be that of the job's last event, which would
 * reveal that the job has ended. So a stream that starts at the present echoes the client's `since`. A client without
 * `since` gets 0, and thus the whole history when it resumes.
 */
const shownToProgress = ({ since }: StreamRequest, seq: number, snapshot: Snapshot) =>
  since === null ? 0 : since > snapshot.seq ? since : seq;

/**
 * Return whether a job has ended and its client has all messages. A client that must not see the end learns of it only
 * after a delay, like all such clients.
 */
async function isOver(
  jobId: string,
  { store, caller, snapshot, seq }: Pick<PrepareOptions, 'store' | 'caller'> & { snapshot: Snapshot; seq: number },
): Promise<boolean> {
  const { status, at, updatedAt } = snapshot;
  if (!isTerminal(status)) return false;
  const form = formOf(caller.scope, true, true);
  if (isEndHidden(form, status) && at - (updatedAt ?? at) < hiddenEndMs(jobId)) return false;
  if (seq === snapshot.seq) return true;
  const since = await store.slots
    .read(caller.tenant, () => readSince(store, jobId, seq + 1))
    .catch((error: unknown) => {
      // The stream itself reads it again, with retries. A refusal would make an EventSource stop.
      if (error instanceof YardmasterError && error.status === 503) return null;
      throw error;
    });
  const isShown = (event: PublishedEvent) => new OutgoingMessage(event).encodedFor(form) !== null;
  return since !== null && seq + since.events.length >= since.lastSeq && !since.events.some(isShown);
}

const SECRET = randomBytes(32);

/**
 * Return how long after a hidden end a reconnecting client learns of it: one to two minutes, unknown to the client. The
 * delay is the same for all clients of a job, because the shortest of many random delays would reveal when the job ended.
 */
function hiddenEndMs(jobId: string): number {
  const fraction = createHmac('sha256', SECRET).update(jobId).digest().readUInt32BE(0) / 2 ** 32;
  return HIDDEN_END_MS * (1 + fraction);
}

/**
 * Prepare to stream a space. The init contains the time from which the stream is complete, and the counts of the space if
 * the client asked for them. There is no other state to send, except with COMPAT=emit.
 *
 * @throws FORBIDDEN, UNAVAILABLE
 */
export async function prepareSpaceStream(
  spaceId: string,
  { store, channels, caller, request, releases }: PrepareOptions,
): Promise<Attach> {
  const channel = channels.ofSpace(spaceId);
  // Counts would include all jobs of the space, not just those with the tag.
  const isForTag = caller.grant?.tag != null;
  if (isForTag && (request.hasCounts || channel instanceof EmitSpaceChannel)) throw otherStreams();
  releases.add(channel.retain());
  await channel.whenSubscribed(releases);
  const buffer = channel.startBuffer();
  releases.add(() => channel.dropBuffer(buffer));
  const connected = channel instanceof EmitSpaceChannel ? await channel.connected(request.query) : null;
  const counted = request.hasCounts ? await countJobs(store, spaceId) : null;
  const timestamp = connected?.timestamp ?? isoOf(counted?.at ?? (await redisNow(store)));
  return (session) => {
    session.begin(spaceId, { spaceId, type: 'init', timestamp, ...(counted && { counts: counted.counts }) });
    if (connected !== null) session.begin(spaceId, connected);
    releases.add(channel.attach(session, buffer, counted !== null));
  };
}

/** Create the event that completed a job, for a progress-scope client that connected too late for it. */
function completionOf(jobId: string, { seq, jobName, spaceId, status, at, updatedAt }: Snapshot): OutgoingMessage {
  // Without data, because such a client sees only that the job was completed, and when.
  const event = { seq, jobId, jobName, spaceId, status, data: null, at: updatedAt ?? at };
  return new OutgoingMessage({ ...event, type: 'completed' });
}
