import { z } from 'zod';
import type { PublishedMessage } from '../jobs/events.js';
import { progressRequest } from '../jobs/progress.js';
import { STATUSES } from '../jobs/statuses.js';
import { logsAppended } from '../logs/logs.js';
import { jsonValue, spaceId } from '../schema/fields.js';
import type { JsonValue } from '../schema/json.js';
import { count, instant, jobIdField, jobStatus } from '../schema/response-fields.js';

/** Scope of a job stream: everything (jobs:read), or only the progress (jobs:read:progress, or no token). */
export type StreamScope = 'full' | 'progress';

/** How a type of message is sent on a progress-scope stream; `withheld` means that it is not sent. */
type InProgressScope = 'with data' | 'without data' | 'withheld';

/**
 * Every type of message that a job stream sends, in addition to `init`. A type without a row here is never sent: the
 * records of callbacks in the history, and types that later releases may record.
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
} as const satisfies Partial<Record<PublishedMessage['type'], InProgressScope>>;

export type StreamType = keyof typeof STREAM_TYPES;

/** Whether events of a type are sent on job streams. Space streams send `created` in addition to these. */
export function isStreamType(type: string): type is StreamType {
  return Object.hasOwn(STREAM_TYPES, type);
}

const SPACE_STREAM_TYPES = ['created', ...(Object.keys(STREAM_TYPES) as StreamType[])] as const;

/** Type of an event that space streams send. */
export const spaceStreamType = z.enum(SPACE_STREAM_TYPES, {
  error: `must be one of ${SPACE_STREAM_TYPES.join(', ')}`,
});

const jobId = jobIdField;
const timestamp = instant.describe(
  'When the event happened, or the moment that `init` describes, by the clock of Redis',
);
/** Fields of a job stream that was opened with `since`. */
const seq = z
  .number()
  .int()
  .optional()
  .describe(
    'Only with `since`: number of the event in the history of the job, which `logs_appended` has not; of `init`, that after which the stream goes on',
  );
const missed = z
  .boolean()
  .optional()
  .describe('Only with `since`: events after it are no longer kept, and the stream begins after those');
const init = z.literal('init').describe('First message of a stream: the current state');
const scheduledFor = instant.describe('When the job becomes claimable');
const error = jsonValue.describe('Error that the worker reported');

/**
 * Make the schemas of the messages that report events.
 *
 * @param more fields of the stream in addition to those of every full-scope message
 */
function eventMessages<More extends z.ZodRawShape>(more: More) {
  const message = <Type extends StreamType | 'created', Data extends z.ZodType>(type: Type, data: Data) =>
    z.object({
      jobId,
      jobName: z.string(),
      ...more,
      type: z.literal(type),
      status: jobStatus.describe('Status of the job after the event'),
      data,
      timestamp,
    });
  return [
    message('created', z.null()),
    message('progress', progressRequest),
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

// No client knows the id of a job before the job is created, so a job stream never sends `created`.
const [, ...jobMessages] = eventMessages({ seq });

/** A message of a job stream with the scope jobs:read. */
export const fullMessage = z
  .discriminatedUnion('type', [
    z.object({ jobId, type: init, status: jobStatus, timestamp, seq, missed }),
    ...jobMessages,
  ])
  .meta({ id: 'FullMessage', description: 'Message of a job stream with the scope `jobs:read`' });
export type FullMessage = z.output<typeof fullMessage>;

/** A message of a job stream with progress scope: only types that STREAM_TYPES does not withhold. */
export const progressMessage = z
  .discriminatedUnion('type', [
    z.object({
      ...{ jobId, type: init, progress: progressRequest.optional().describe('The latest report') },
      ...{ timestamp, seq, missed },
    }),
    z.object({ jobId, type: z.literal('progress'), data: progressRequest, timestamp, seq }),
    z.object({ jobId, type: z.literal('completed'), timestamp, seq }),
  ])
  .meta({
    id: 'ProgressMessage',
    description: 'Message of a job stream with `jobs:read:progress`, or without a token',
  });
export type ProgressMessage = z.output<typeof progressMessage>;

/** Jobs of a space by status. */
const statusCounts = z.record(z.enum(STATUSES), count).describe('How many jobs of the space have each status');

const countsMessage = z.object({ spaceId, type: z.literal('counts'), counts: statusCounts, timestamp });
export type CountsMessage = z.output<typeof countsMessage>;

/** A message of a space stream. */
export const spaceMessage = z
  .discriminatedUnion('type', [
    z.object({ spaceId, type: init, timestamp, counts: statusCounts.optional().describe('Only with `counts=1`') }),
    countsMessage,
    ...eventMessages({ spaceId }),
  ])
  .meta({ id: 'SpaceMessage', description: 'Message of a space stream' });
export type SpaceMessage = z.output<typeof spaceMessage>;

/**
 * A message of any stream.
 *
 * The gateway makes its messages with these types and does not check them when it sends them; tests do.
 *
 * @see docs/streams.md#messages
 */
export const streamMessage = z.union([spaceMessage, fullMessage, progressMessage]);
export type StreamMessage = z.output<typeof streamMessage>;

/** First message of every stream. All later messages report the changes since then. */
export type InitMessage = Extract<StreamMessage, { type: 'init' }>;

/**
 * A message as a client reads it, from this release or a later one. A field that the message lacks, or whose value this
 * release does not know, is null.
 */
export const readableMessage = z.object({
  type: z.string(),
  jobId: z.string().nullable().catch(null),
  jobName: z.string().nullable().catch(null),
  spaceId: z.string().nullable().catch(null),
  status: jobStatus.nullable().catch(null),
  progress: progressRequest.nullable().catch(null),
  data: z.custom<JsonValue>().default(null),
  timestamp: z.string().nullable().catch(null),
  seq: z.number().nullable().catch(null),
  missed: z.boolean().catch(false),
});
