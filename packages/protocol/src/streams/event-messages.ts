import { z } from 'zod';
import type { PublishedMessage } from '../jobs/events.js';
import { progress } from '../jobs/progress.js';
import { logsAppended } from '../logs/logs.js';
import { jsonValue } from '../schema/fields.js';
import { count, instant, jobIdField, jobStatus } from '../schema/response-fields.js';

/** How a type of message is sent on a progress-scope stream; `withheld` means that it is not sent. */
type InProgressScope = 'with data' | 'without data' | 'withheld';

/** Types of events that job streams do not send: a job has no stream before it is created, and callbacks come after its end. */
type NotSent = 'created' | 'callback_sent' | 'callback_failed';

/**
 * Every type of message that a job stream sends, in addition to `init`. A type without a row here, such as one that a
 * later release may record, is never sent.
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

/** Whether events of a type are sent on job streams. Space streams send `created` in addition to these. */
export function isStreamType(type: string): type is StreamType {
  return Object.hasOwn(STREAM_TYPES, type);
}

/** When the message of an event is sent, as the AsyncAPI document says it. */
export const SENT_WHEN: Record<StreamType | 'created', string> = {
  created: 'The job was created',
  progress: 'The worker reported progress',
  delivered: 'A worker has claimed the job',
  acked: 'The worker has begun; the job is running',
  checkpoint: 'The worker stored a checkpoint',
  event: 'The worker sent an event',
  logs_appended: 'Log entries were appended',
  completed: 'The job is completed',
  retried: 'An attempt failed and another follows; the job is pending, or scheduled until then',
  released: 'A worker gave the job back; it is pending or scheduled',
  dead: 'The last attempt failed, or no worker acked the job in time',
  killed: 'The job was killed',
  delivery_timeout: 'A claimed job was not acked in time; it is pending',
  replaced: 'The payload and the options of the waiting job were replaced',
  ready: 'The time of a scheduled job has come; it is pending',
  requeued: 'The dead or killed job waits again; it is pending or scheduled',
  rescheduled: 'The job was given another time; it is pending or scheduled',
};

/** When an event happened, or the moment that an `init` describes. */
export const timestamp = instant.describe(
  'When the event happened, or the moment that `init` describes, by the clock of Redis',
);
const scheduledFor = instant.describe('When the job becomes claimable');
const error = jsonValue.describe('Error that the worker reported');

/**
 * Make the schemas of the messages that report events.
 *
 * @param more fields of the stream in addition to those of every full-scope message
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
