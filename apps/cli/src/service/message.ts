import {
  isJsonObject,
  type JobEvent,
  type JsonValue,
  type Progress,
  progressRequest,
  readableMessage,
  type Status,
} from '@yardmaster/protocol';
import { printable } from '../terminal/printable.js';

/** A message of any stream, ready to show: every text in it is printable. Fields that its type lacks are null. */
export interface StreamMessage {
  /** Type; see docs/streams.md#messages. Newer services may send other types. */
  type: string;
  jobId: string | null;
  jobName: string | null;
  spaceId: string | null;
  /** Status of the job after the message. */
  status: Status | null;
  /** Progress in a message of type `progress`, or in an `init` with progress scope. */
  progress: Progress | null;
  /** When the job becomes claimable, ISO 8601, in a message that makes it scheduled; null in its `init`. */
  scheduledFor: string | null;
  /** The rest of the message in words, on one line. May be empty. */
  detail: string;
  /** ISO 8601. */
  timestamp: string;
  /** Number of the event in the history of the job. */
  seq: number | null;
  /** Whether the `init` of a stream says that earlier events are lost. */
  missed: boolean;
}

/**
 * Read a message from an untrusted server.
 *
 * @returns null if it is not a message
 */
export function readMessage(raw: unknown): StreamMessage | null {
  const { success, data: message } = readableMessage.safeParse(raw);
  if (!success) return null;
  const { data, status, seq, missed } = message;
  const progress = readProgress(message.type === 'progress' ? data : message.progress);
  const type = printable(message.type);
  return {
    type,
    jobId: printableOrNull(message.jobId),
    jobName: printableOrNull(message.jobName),
    spaceId: printableOrNull(message.spaceId),
    status,
    progress,
    scheduledFor: status === 'scheduled' ? readScheduledFor(data) : null,
    // Show invalid progress data unchanged.
    detail: progress === null ? printable(detailOf(type, data)) : '',
    timestamp: printable(message.timestamp ?? ''),
    seq,
    missed,
  };
}

/** Convert an event of a job's history into the message that announced it; null if it is invalid. */
export function readEvent(event: JobEvent): StreamMessage | null {
  const { jobId, type, data, createdAt } = event;
  const status = field(data, 'scheduledFor') === null ? null : 'scheduled';
  return readMessage({ jobId, type, data, status, timestamp: createdAt });
}

/** Read a progress report; null if it is invalid or absent. */
export function readProgress(raw: unknown): Progress | null {
  const { success, data } = progressRequest.safeParse(raw);
  if (!success) return null;
  const { percent, message, subProgress } = data;
  if (subProgress === undefined) return { percent, message: printable(message) };
  const stages = Object.entries(subProgress).map(([name, stage]) => {
    const shown = stage.message === undefined ? {} : { message: printable(stage.message) };
    return [printable(name), { percent: stage.percent, ...shown }] as const;
  });
  return { percent, message: printable(message), subProgress: Object.fromEntries(stages) };
}

/** Read when a job becomes claimable, from the job or the data of an event; null if it doesn't say. */
export function readScheduledFor(data: unknown): string | null {
  const at = field(data as JsonValue, 'scheduledFor');
  return typeof at === 'string' ? printable(at) : null;
}

const printableOrNull = (text: string | null) => (text === null ? null : printable(text));

/** Descriptions of messages, for types whose raw data is hard to read. */
const DETAILS: Record<string, (data: JsonValue) => string> = {
  delivery_timeout: () => 'not acked in time, back in the queue',
  logs_appended: (data) => `${text(field(data, 'count'))} (seq ${field(data, 'fromSeq')} to ${field(data, 'toSeq')})`,
  retried: (data) => `attempt ${text(field(data, 'attemptNumber'))} failed: ${text(field(data, 'error'))}`,
  requeued: () => 'with a fresh set of attempts',
  replaced: () => 'a new create replaced its payload and options',
  rescheduled(data) {
    const priority = field(data, 'priority');
    const words = [
      field(data, 'scheduledFor') === null && 'pending now',
      priority !== null && `priority ${text(priority)}`,
    ];
    return words.filter((word) => word !== false).join(', ');
  },
};

/** Types whose data is an arbitrary value from a worker, shown in full. */
const OF_WORKER = ['progress', 'checkpoint', 'event', 'completed'];

/** Return the reason in data that contains nothing else except a time; undefined for other data. */
function reasonIn(data: JsonValue): JsonValue | undefined {
  if (!isJsonObject(data)) return undefined;
  const { scheduledFor: _, ...rest } = data;
  const [name = '', ...others] = Object.keys(rest);
  return others.length === 0 && (name === 'reason' || name === 'error') ? rest[name] : undefined;
}

/**
 * Describe a message in words, without its type. The result is not printable yet.
 *
 * @param data unvalidated data of the message
 */
function detailOf(type: string, data: JsonValue): string {
  const inWords = Object.hasOwn(DETAILS, type) ? DETAILS[type] : undefined;
  if (inWords !== undefined) return inWords(data);
  const reason = OF_WORKER.includes(type) ? undefined : reasonIn(data);
  if (reason !== undefined) return text(reason);
  return data === null ? '' : JSON.stringify(data);
}

/** Format a value: a string without quotes, null as an empty string, anything else as JSON. */
function text(value: JsonValue): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const field = (data: JsonValue, name: string): JsonValue =>
  (isJsonObject(data) && Object.hasOwn(data, name) ? data[name] : null) ?? null;
