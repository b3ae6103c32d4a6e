import { z } from 'zod';
import type { LogsAppended } from '../logs/logs.js';
import { type JsonValue, jsonValue } from '../schema/fields.js';
import { instant, jobIdField } from '../schema/response-fields.js';
import type { Status } from './statuses.js';

/**
 * Types of the events in a job's history (`events` of Get Job). The first event is always `created`.
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

/** One event of a job's history. */
export const jobEvent = z
  .object({
    id: z.string().describe('`<jobId>.<seq>`; `seq` counts the events of the job from 1, without gaps'),
    jobId: jobIdField,
    spaceId: z.string(),
    type: z.enum(EVENT_TYPES),
    data: jsonValue.describe('Data of the event; null if it has none'),
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
  /** Epoch milliseconds, by Redis's clock. */
  at: number;
  /** Tags of the job; absent without tags. */
  tags?: readonly string[];
}

/** An event of the history, in the form in which the script publishes it to the channels of the job and its space. */
export interface PublishedEvent extends Published {
  /** Position in the job's history. A reader that has seen this seq ignores everything up to it. */
  seq: number;
  type: EventType;
  data: JsonValue;
}

/** A published append of logs. It isn't in the history: a reader tells from the log seqs which entries it missed. */
export interface PublishedAppend extends Published {
  seq: null;
  type: 'logs_appended';
  data: LogsAppended;
}

/** An event that is published but not stored. */
export interface EphemeralEvent extends Published {
  seq: null;
  type: 'event';
  data: JsonValue;
}

/** A message on the channel of a job or space, sent as JSON. The gateway turns it into messages of its streams. */
export type PublishedMessage = PublishedEvent | PublishedAppend | EphemeralEvent;
