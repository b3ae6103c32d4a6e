import { z } from 'zod';
import type { PublishedMessage } from '../jobs/events.js';
import { progress } from '../jobs/progress.js';
import { logsAppended } from '../logs/logs.js';
import { jsonValue } from '../schema/fields.js';
import { count, instant, jobIdField, jobStatus } from '../schema/response-fields.js';

/** How a type of message is sent on a progress-scope stream; `withheld` messages are not sent. */
type InProgressScope = 'with data' | 'without data' | 'withheld';

/** Events that job streams never send: no stream exists before the job is created, and callbacks follow its end. */
type NotSent = 'created' | 'callback_sent' | 'callback_failed';

/**
 * Every type of message that a job stream sends, except `init`. A type without a row here, such as one recorded by a
 * newer release, is never sent.
 *
 * @see docs/streams.md#messages
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
  released: 'withheld',
  dead: 'withheld',
  killed: 'withheld',
  delivery_timeout: 'withheld',
  replaced: 'withheld',
  ready: 'withheld',
  rescheduled: 'withheld',
  requeued: 'withheld',
} as const satisfies Record<Exclude<PublishedMessage['type'], NotSent>, InProgressScope>;

export type StreamType = keyof typeof STREAM_TYPES;

/** Return whether job streams send events of this type. Space streams also send `created`. */
export function isStreamType(type: string): type is StreamType {
  return Object.hasOwn(STREAM_TYPES, type);
}

/** What each message reports, for the AsyncAPI document. */
export const SENT_WHEN: Record<StreamType | 'created', string> = {
  created: 'The job was created',
  progress: 'The worker reported progress',
  delivered: 'A worker claimed the job',
  acked: 'The worker acked the job, which is now running',
  checkpoint: 'The worker stored a checkpoint',
  event: 'The worker sent an event',
  logs_appended: 'Log entries were appended',
  completed: 'The job was completed',
  retried: 'An attempt failed and will be retried; the job is now pending or scheduled',
  released: 'A worker released the job, which is now pending or scheduled',
  dead: 'The last attempt failed, or no worker acked the job in time',
  killed: 'The job was killed',
  delivery_timeout: 'The job was claimed but not acked in time, and is now pending',
  replaced: 'The payload and options of the pending or scheduled job were replaced',
  ready: 'The scheduled job became due, and is now pending',
  requeued: 'The dead or killed job was requeued, and is now pending or scheduled',
  rescheduled: 'The job was rescheduled, and is now pending or scheduled',
};

/** Time of an event, or of the state in an `init`. */
export const timestamp = instant.describe(
  "When the event happened, or the time of the state in `init`, by Redis's clock",
);
const scheduledFor = instant.describe('When the job becomes claimable');
const error = jsonValue.describe('Error that the worker reported');

/**
 * Make the schemas of the messages that report events.
 *
 * @param more fields that this kind of stream adds to every full-scope message
 */
export function eventMessages<More extends z.ZodRawShape>(more: More) {
  const message = <Type extends StreamType | 'created', Data extends z.ZodType>(type: Type, data: Data) =>
    z
      .object({
        jobId: jobIdField,
        jobName: z.string(),
        ...more,
        type: z.literal(type),
        status: jobStatus.describe('Status of the job after the event'),
        data,
        timestamp,
      })
      .describe(SENT_WHEN[type]);
  return [
    message('created', z.null()),
    message('progress', progress),
    message('delivered', z.null()),
    message('acked', z.null()),
    message('checkpoint', jsonValue),
    message('event', jsonValue),
    message('logs_appended', logsAppended),
    message('completed', jsonValue),
    message('retried', z.object({ error, attemptNumber: count, scheduledFor: scheduledFor.optional() })),
    message('released', z.object({ reason: z.string().nullable(), scheduledFor: scheduledFor.optional() })),
    message('dead', z.object({ error })),
    message('killed', z.object({ reason: z.string().nullable() })),
    message('delivery_timeout', z.null()),
    message('replaced', z.object({ scheduledFor }).nullable()),
    message('ready', z.null()),
    message('requeued', z.object({ scheduledFor }).nullable()),
    message('rescheduled', z.object({ scheduledFor: scheduledFor.nullable(), priority: z.number().optional() })),
  ] as const;
}
