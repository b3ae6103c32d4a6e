import { z } from 'zod';
import type { LogsAppended } from '../logs/logs.js';
import { type JsonValue, jsonValue } from '../schema/fields.js';
import { instant, jobIdField } from '../schema/response-fields.js';
import type { Status } from './statuses.js';

/**
 * Types of the records in a job's history (`events` of Get Job). The first is always `created`.
 *
 * @see docs/api/job.md#events
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
  'released',
  'dead',
  'killed',
  'delivery_timeout',
  'replaced',
  'ready',
  'rescheduled',
  'requeued',
  'callback_sent',
  'callback_failed',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** One record of a job's history. */
export const jobEvent = z
  .object({
    id: z.string().describe('`<jobId>.<seq>`; seq is dense, from 1, per job'),
    jobId: jobIdField,
    spaceId: z.string(),
    type: z.enum(EVENT_TYPES),
    data: jsonValue.describe('Data of the event; null for an event without data'),
    createdAt: instant,
  })
  .meta({ id: 'JobEvent' });
export type JobEvent = z.output<typeof jobEvent>;

interface Published {
  jobId: string;
  jobName: string;
  spaceId: string;
  /** Status of the job after the event. */
  status: Status;
  /** Epoch milliseconds, Redis clock. */
  at: number;
  /** Tags of the job; absent without tags. */
  tags?: readonly string[];
}

/** An event of the history, as the script that causes it publishes it to the channels of its job and of its space. */
export interface PublishedEvent extends Published {
  /** Place in the job's history. A reader that has seen this seq ignores everything up to it. */
  seq: number;
  type: EventType;
  data: JsonValue;
}

/**
 * An append of logs, published in the same way. It is not in the history: log seqs show which entries a reader has
 * missed.
 */
export interface PublishedAppend extends Published {
  seq: null;
  type: 'logs_appended';
  data: LogsAppended;
}

/** An event that is published in the same way, and stored nowhere. */
export interface EphemeralEvent extends Published {
  seq: null;
  type: 'event';
  data: JsonValue;
}

/** A message on a channel of a job or of a space, as JSON. The gateway makes the messages of its streams from it. */
export type PublishedMessage = PublishedEvent | PublishedAppend | EphemeralEvent;
