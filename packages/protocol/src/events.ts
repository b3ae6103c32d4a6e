import { z } from 'zod';
import { jsonValue } from './fields.js';
import type { JsonValue } from './json.js';
import type { LogsAppended } from './logs.js';
import { instant, jobIdField } from './response-fields.js';
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
export const jobEvent = z.object({
  id: z.string().describe('`<jobId>.<seq>`; seq is dense, from 1, per job'),
  jobId: jobIdField,
  spaceId: z.string(),
  type: z.enum(EVENT_TYPES),
  data: jsonValue.describe('What the event carries; null where there is nothing to tell'),
  createdAt: instant,
});
export type JobEvent = z.output<typeof jobEvent>;

interface Published {
  jobId: string;
  jobName: string;
  spaceId: string;
  /** Status of the job afterwards. */
  status: Status;
  /** Epoch milliseconds, Redis clock. */
  at: number;
}

/** An event of the history. It is published to the job's and the space's channel in the step that makes it true. */
export interface PublishedEvent extends Published {
  /** Place in the job's history; a reader that has seen `seq` ignores everything up to it. */
  seq: number;
  type: EventType;
  data: JsonValue;
}

/** An append of logs, published in the same way. It is not in the history: log seqs show what a reader has missed. */
export interface PublishedAppend extends Published {
  seq: null;
  type: 'logs_appended';
  data: LogsAppended;
}

/** A message on a channel, as JSON. The stream messages of spec §6.1 are made from it. */
export type PublishedNews = PublishedEvent | PublishedAppend;
