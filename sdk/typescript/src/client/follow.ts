import { pause } from '../backoff.js';
import { YardmasterError } from '../errors.js';
import type { JobStatus, Progress } from '../wire.generated.js';

/** A stream message. docs/streams.md lists the types and their data. */
export interface StreamMessage {
  /** `init`, the type of an event, or `counts`. */
  type: string;
  /** Missing from `init` and `counts` in the stream of a space. */
  jobId?: string;
  jobName?: string;
  /** Only in the stream of a space. */
  spaceId?: string;
  /** Status of the job after the event. */
  status?: JobStatus;
  data?: unknown;
  /** Latest progress report; only in an `init` that is sent without the scope `jobs:read`. */
  progress?: Progress | null;
  /** Jobs of the space by status; only with `counts`. */
  counts?: Record<JobStatus, number>;
  /** Number of the event in the job's history; only with `since` or after a reconnect. */
  seq?: number;
  /** Whether events before this `init` were lost. */
  missed?: boolean;
  /** Time of the event, in ISO 8601. */
  timestamp: string;
}

/** What a connection yields: a message, and the id after which another connection resumes. */
export interface Received {
  id: string | null;
  message: StreamMessage;
}

/** Thrown when the server says that no more messages will follow. */
export class StreamEnded extends Error {}

/**
 * Opens one connection of a stream, which returns when it is closed.
 *
 * @param lastId ID of the message to resume after; null to start from now
 * @throws StreamEnded; YardmasterError when it is refused or breaks
 */
export type Connect = (lastId: string | null, signal: AbortSignal) => AsyncIterable<Received>;

/** Options that all streams have. */
export interface WatchOptions {
  /** Ends the watch at any time. Leaving the loop ends it with the next message. */
  signal?: AbortSignal | undefined;
  /** Called with the reason before each reconnect. A watch reconnects forever; throw here to give up. */
  onDisconnect?: ((error: YardmasterError) => void) | undefined;
}

interface FollowOptions extends WatchOptions {
  /** Whether this is the stream of one job, which ends with the job. */
  isOfJob: boolean;
  /** Number of the event to start after. Default: start from now */
  since?: number | undefined;
}

const FIRST_MS = 500;
const MOST_MS = 30_000;
/** A connection that lasts this long resets the backoff. */
const LASTING_MS = 5_000;

/** How far a stream has been read. */
interface Position {
  /** Id of the latest message that has one; null before the first, without `since`. */
  lastId: string | null;
  /** When the latest connection sent its first message; null before. */
  openedAt: number | null;
}

/**
 * Follow a stream across reconnects, until the caller stops reading or the job ends.
 *
 * @throws YardmasterError if reconnecting can't help; the reason of the signal
 */
export async function* follow(
  connect: Connect,
  options: FollowOptions,
): AsyncGenerator<StreamMessage, void, undefined> {
  const { since, signal, onDisconnect } = options;
  const position: Position = { lastId: since === undefined ? null : `${since}`, openedAt: null };
  for (let failures = 0; ; ) {
    const lost = yield* readOnce(connect, position, options);
    if (lost === null) return;
    const { openedAt } = position;
    failures = openedAt !== null && performance.now() - openedAt > LASTING_MS ? 1 : failures + 1;
    onDisconnect?.(lost);
    // Full jitter, so that the clients of a process that died don't all reconnect at the same moment.
    const waitMs = Math.random() * Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 10), MOST_MS);
    if (!(await pause(lost.retryAfterMs + waitMs, signal))) signal?.throwIfAborted();
  }
}

/** Read one connection. @returns why it was lost; null when no message will follow */
async function* readOnce(connect: Connect, position: Position, { isOfJob, signal = NEVER }: FollowOptions) {
  position.openedAt = null;
  try {
    signal.throwIfAborted();
    const isOver = yield* passOn(connect(position.lastId, signal), position, { isOfJob, signal });
    return isOver ? null : new YardmasterError('NO_RESPONSE', 'The server closed the stream');
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof StreamEnded) return null;
    if (error instanceof YardmasterError && error.isTemporary) return error;
    throw error;
  }
}

const NEVER = new AbortController().signal;

/** Yield the messages of a connection. @returns whether the job has ended */
async function* passOn(
  connection: AsyncIterable<Received>,
  position: Position,
  { isOfJob, signal }: { isOfJob: boolean; signal: AbortSignal },
) {
  const isResumed = position.lastId !== null;
  let initAt = '';
  for await (const { id, message } of connection) {
    signal.throwIfAborted();
    position.openedAt ??= performance.now();
    position.lastId = id ?? position.lastId;
    if (message.type === 'init') initAt = message.timestamp;
    yield message;
    // After a resume, events from before the init can follow it. The job may have been requeued since then.
    const isOld = isResumed && message.timestamp <= initAt;
    if (isOfJob && endsJob(message, isOld)) return true;
  }
  return false;
}

function endsJob({ type, status }: StreamMessage, isOld: boolean): boolean {
  if (type === 'completed') return true; // Nothing can undo it. Without the scope `jobs:read` it has no status.
  return !isOld && (status === 'completed' || status === 'dead' || status === 'killed');
}
