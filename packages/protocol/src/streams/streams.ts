import { z } from 'zod';
import { progress, progressRequest } from '../jobs/progress.js';
import { STATUSES } from '../jobs/statuses.js';
import { openApiSchemaOf } from '../schema/describe.js';
import { type JsonValue, spaceId } from '../schema/fields.js';
import { count, jobIdField, jobStatus } from '../schema/response-fields.js';
import { eventMessages, SENT_WHEN, STREAM_TYPES, type StreamType, timestamp } from './event-messages.js';

/** Scope of a job stream: everything (jobs:read), or only progress (jobs:read:progress, or no token). */
export type StreamScope = 'full' | 'progress';

const SPACE_STREAM_TYPES = ['created', ...(Object.keys(STREAM_TYPES) as StreamType[])] as const;

/** Types of the events that space streams send. */
export const spaceStreamType = z.enum(SPACE_STREAM_TYPES, {
  error: `must be one of ${SPACE_STREAM_TYPES.join(', ')}`,
});

const jobId = jobIdField;
/** Field of messages of a job stream opened with `since`. */
const seq = z
  .number()
  .int()
  .optional()
  .describe(
    'Only with `since`: number of the event in the history of the job, absent for events that are not in it; in `init`, number of the event after which the stream resumes',
  );
const missed = z
  .boolean()
  .optional()
  .describe('Only with `since`: some of the events after it are no longer kept, and the stream resumes after those');
const INIT = 'The stream is open. This is the first message, with the current state';
const init = z.literal('init').describe('First message of a stream, with the current state');
// Clients learn the ID of a job only after it is created, so a job stream never sends `created`.
const [, ...jobMessages] = eventMessages({ seq });

/** A message of a job stream with the scope jobs:read. */
export const fullMessage = z
  .discriminatedUnion('type', [
    z.object({ jobId, type: init, status: jobStatus, timestamp, seq, missed }).describe(INIT),
    ...jobMessages,
  ])
  .meta({ id: 'FullMessage', description: 'Message of a job stream with the scope `jobs:read`' });
export type FullMessage = z.output<typeof fullMessage>;

/** A message of a progress-scope job stream: only types that STREAM_TYPES doesn't withhold. */
export const progressMessage = z
  .discriminatedUnion('type', [
    z
      .object({
        ...{
          jobId,
          type: init,
          progress: progress.optional().describe('Latest progress report; absent before the first'),
        },
        ...{ timestamp, seq, missed },
      })
      .describe(INIT),
    z.object({ jobId, type: z.literal('progress'), data: progress, timestamp, seq }).describe(SENT_WHEN.progress),
    z.object({ jobId, type: z.literal('completed'), timestamp, seq }).describe(SENT_WHEN.completed),
  ])
  .meta({
    id: 'ProgressMessage',
    description: 'Message of a job stream with the scope `jobs:read:progress`, or without a token',
  });
export type ProgressMessage = z.output<typeof progressMessage>;

/** Number of jobs of a space by status. */
const statusCounts = z.record(z.enum(STATUSES), count).describe('Number of jobs in the space by status');

const countsMessage = z
  .object({ spaceId, type: z.literal('counts'), counts: statusCounts, timestamp })
  .describe('The counts have changed; only with `counts=1`, and at most once a second');
export type CountsMessage = z.output<typeof countsMessage>;

/** A message of a space stream. */
export const spaceMessage = z
  .discriminatedUnion('type', [
    z
      .object({ spaceId, type: init, timestamp, counts: statusCounts.optional().describe('Only with `counts=1`') })
      .describe(INIT),
    countsMessage,
    ...eventMessages({ spaceId }),
  ])
  .meta({ id: 'SpaceMessage', description: 'Message of a space stream' });
export type SpaceMessage = z.output<typeof spaceMessage>;

/**
 * A message of any stream. The gateway builds messages with these types without checking them at runtime; tests do.
 *
 * @see docs/streams.md#messages
 */
export const streamMessage = z.union([spaceMessage, fullMessage, progressMessage]);
export type StreamMessage = z.output<typeof streamMessage>;

/** First message of every stream. Later messages report the changes since. */
export type InitMessage = Extract<StreamMessage, { type: 'init' }>;

/**
 * A message as a client reads it, from this release or a newer one. A field that is missing, or whose value this release
 * doesn't know, is null.
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

type JsonSchema = z.core.JSONSchema.BaseSchema;

/**
 * Create the JSON Schema (2020-12) of the messages of all streams. It accepts unknown fields, because later releases may
 * add some. `$defs` has a separate schema for each kind of stream.
 */
export function streamMessageSchema(): JsonSchema {
  return {
    title: 'Messages of Yardmaster streams',
    description: 'Ignore messages of any type not listed here, because later releases may add types.',
    ...toJsonSchema(streamMessage),
  };
}

function toJsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    io: 'input', // Unlike `output`, `input` accepts unknown fields.
    unrepresentable: 'any', // JSON values are checked by a function, so their schema is `{}`.
    override({ zodSchema, jsonSchema }) {
      const standIn = openApiSchemaOf(zodSchema);
      if (standIn === null) return;
      const { $schema: _, ...described } = toJsonSchema(standIn);
      Object.assign(jsonSchema, described);
    },
  });
}
