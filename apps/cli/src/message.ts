import { type JsonValue, type Progress, progressRequest, STATUSES, type Status } from '@yardmaster/protocol';
import { detailOf } from './detail.js';
import { printable } from './printable.js';

/** A message of any stream, ready to be shown: every text in it is printable. A field that the type lacks is null. */
export interface StreamMessage {
  /** Type as in spec §6.1. A later release may have types of its own. */
  type: string;
  jobId: string | null;
  jobName: string | null;
  spaceId: string | null;
  /** Status of the job after the message. */
  status: Status | null;
  /** Progress in a message of type `progress`, or in an init of progress scope. */
  progress: Progress | null;
  /** What else the message says, for people, in one line. It may be empty. */
  detail: string;
  /** ISO 8601. */
  timestamp: string;
}

/**
 * Read a message, which any server may have sent.
 *
 * @returns null when the text is not a message
 */
export function readMessage(text: string): StreamMessage | null {
  const raw = parse(text);
  if (raw === null || typeof raw !== 'object' || Array.isArray(raw) || typeof raw.type !== 'string') return null;
  const progress = readProgress(raw.type === 'progress' ? raw.data : raw.progress);
  const data = raw.data ?? null;
  const type = printable(raw.type);
  return {
    type,
    jobId: textOrNull(raw.jobId),
    jobName: textOrNull(raw.jobName),
    spaceId: textOrNull(raw.spaceId),
    status: STATUSES.find((status) => status === raw.status) ?? null,
    progress,
    // Data that is no valid progress is shown as it came.
    detail: progress === null ? printable(detailOf(type, data)) : '',
    timestamp: textOrNull(raw.timestamp) ?? '',
  };
}

/** Read a progress report; null when there is none. */
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

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return null; // Invalid JSON is no message either.
  }
}

const textOrNull = (value: JsonValue | undefined) => (typeof value === 'string' ? printable(value) : null);
