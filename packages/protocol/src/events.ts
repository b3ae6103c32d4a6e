import type { JsonValue } from './json.js';
import type { Status } from './status.js';

/**
 * Types of the records in a job's history (`events` of Get Job). The first is always `created`.
 *
 * @see spec §2.2, §6.2
 */
export const EVENT_TYPES = [
  'created',
  'delivered',
  'acked',
  'progress',
  'checkpoint',
  'event',
  'completed',
  'retried',
  'dead',
  'killed',
  'delivery_timeout',
  'callback_sent',
  'callback_failed',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** One record of a job's history. */
export interface JobEvent {
  /** `<jobId>.<seq>`; seq is dense, from 1, per job. */
  id: string;
  jobId: string;
  spaceId: string;
  type: EventType;
  /** What the event carries; null where the specification says none. */
  data: JsonValue;
  /** ISO 8601, UTC, milliseconds. */
  createdAt: string;
}

/**
 * What a transition, or an append of logs, publishes to the job's and the space's channel, as JSON, in the step that makes it true.
 * The stream messages of spec §6.1 are cut from it.
 */
export interface PublishedEvent {
  /** Place in the job's history; a reader that has seen `seq` ignores everything up to it. Null: not in the history. */
  seq: number | null;
  jobId: string;
  jobName: string;
  spaceId: string;
  type: EventType | 'logs_appended';
  /** Status of the job after the event. */
  status: Status;
  data: JsonValue;
  /** Epoch milliseconds, Redis clock. */
  at: number;
}
