import type { PublishedNews } from './events.js';
import type { JsonValue } from './json.js';
import type { Progress } from './progress.js';
import type { Status } from './status.js';

/** What a stream may show: everything (jobs:read), or only how far a job is (jobs:read:progress, or no token). */
export type StreamScope = 'full' | 'progress';

/** How a type of message is sent on a progress-scope stream; `withheld` means that it is not sent. */
type InProgressScope = 'with data' | 'without data' | 'withheld';

/**
 * Every type of message that a stream sends, in addition to `init`. A type without a row here is never sent: the
 * callbacks' records in the history, and whatever a later release may record.
 *
 * @see spec §6.1
 */
export const STREAM_TYPES = {
  progress: 'with data',
  delivered: 'withheld',
  acked: 'withheld',
  checkpoint: 'withheld',
  event: 'withheld',
  logs_appended: 'withheld',
  completed: 'without data',
  retried: 'withheld',
  dead: 'withheld',
  killed: 'withheld',
  delivery_timeout: 'withheld',
} as const satisfies Partial<Record<PublishedNews['type'], InProgressScope>>;

export type StreamType = keyof typeof STREAM_TYPES;

/** Whether events of a type are sent on job streams. Space streams send `created` in addition to these. */
export function isStreamType(type: string): type is StreamType {
  return Object.hasOwn(STREAM_TYPES, type);
}

/** Message of a job stream with the scope jobs:read. */
export interface FullMessage {
  jobId: string;
  jobName: string;
  type: StreamType;
  /** Status of the job after the event. */
  status: Status;
  /** What the event carries; null where the specification says none. */
  data: JsonValue;
  /** ISO 8601. */
  timestamp: string;
}

/** Message of a job stream with progress scope. */
export interface ProgressMessage {
  jobId: string;
  type: StreamType;
  /** Only for types that are shown `with data`. */
  data?: JsonValue;
  /** ISO 8601. */
  timestamp: string;
}

/** Message of a space stream. A job stream never sends `created`, because no client knows the job's id before. */
export type SpaceMessage = Omit<FullMessage, 'type'> & { spaceId: string; type: StreamType | 'created' };

/** First message of every stream: the current state. All later messages report what has changed since. */
export type InitMessage =
  | { jobId: string; type: 'init'; status: Status; timestamp: string }
  | { jobId: string; type: 'init'; progress?: Progress; timestamp: string }
  | { spaceId: string; type: 'init'; timestamp: string };

/** Codes with which the service closes a stream (RFC 6455 §7.4.1; 1012 and 1013: IANA's registry). */
export const CLOSE_CODES = {
  /** The job has ended: nothing more will come. */
  ended: 1000,
  /** The process ends; another one takes over. */
  goingAway: 1001,
  /** The API key was revoked or has expired. */
  keyRevoked: 1008,
  /** The client sent more than 1 KB in one message. */
  tooBig: 1009,
  /** Messages may be missing. */
  interrupted: 1012,
  /** The client reads too slowly. */
  tooSlow: 1013,
} as const;
