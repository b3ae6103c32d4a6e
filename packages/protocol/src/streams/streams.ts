import { z } from 'zod';
import { progress, progressRequest } from '../jobs/progress.js';
import { STATUSES } from '../jobs/statuses.js';
import { openApiSchemaOf } from '../schema/describe.js';
import { type JsonValue, spaceId } from '../schema/fields.js';
import { count, jobIdField, jobStatus } from '../schema/response-fields.js';
import { eventMessages, SENT_WHEN, STREAM_TYPES, type StreamType, timestamp } from './event-messages.js';

/** Scope of a job stream: everything (jobs:read), or only the progress (jobs:read:progress, or no token). */
export type StreamScope = 'full' | 'progress';

const SPACE_STREAM_TYPES = ['created', ...(Object.keys(STREAM_TYPES) as StreamType[])] as const;

/** Type of an event that space streams send. */
export const spaceStreamType = z.enum(SPACE_STREAM_TYPES, {
  error: `must be one of ${SPACE_STREAM_TYPES.join(', ')}`,
});

const jobId = jobIdField;
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
const INIT = 'The stream is open. This is the first message, with the current state';
const init = z.literal('init').describe('First message of a stream: the current state');
// No client knows the id of a job before the job is created, so a job stream never sends `created`.
const [, ...jobMessages] = eventMessages({ seq });

/** A message of a job stream with the scope jobs:read. */
export const fullMessage = z
  .discriminatedUnion('type', [
    z.object({ jobId, type: init, status: jobStatus, timestamp, seq, missed }).describe(INIT),
    ...jobMessages,
  ])
  .meta({ id: 'FullMessage', description: 'Message of a job stream with the scope `jobs:read`' });
export type FullMessage = z.output<typeof fullMessage>;

/** A message of a job stream with progress scope: only types that STREAM_TYPES does not withhold. */
export const progressMessage = z
  .discriminatedUnion('type', [
    z
      .object({
        ...{ jobId, type: init, progress: progress.optional().describe('The latest report') },
        ...{ timestamp, seq, missed },
      })
      .describe(INIT),
    z.object({ jobId, type: z.literal('progress'), data: progress, timestamp, seq }).describe(SENT_WHEN.progress),
    z.object({ jobId, type: z.literal('completed'), timestamp, seq }).describe(SENT_WHEN.completed),
  ])
  .meta({
    id: 'ProgressMessage',
    description: 'Message of a job stream with `jobs:read:progress`, or without a token',
  });
export type ProgressMessage = z.output<typeof progressMessage>;

/** Jobs of a space by status. */
const statusCounts = z.record(z.enum(STATUSES), count).describe('How many jobs of the space have each status');

const countsMessage = z
  .object({ spaceId, type: z.literal('counts'), counts: statusCounts, timestamp })
  .describe('With `counts=1`: the counts have changed. It comes at most once a second');
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

type JsonSchema = z.core.JSONSchema.BaseSchema;

/**
 * Create the JSON Schema (2020-12) of the messages of all streams.
 *
 * It accepts unknown fields, because later releases may add fields. Each kind of stream has a schema of its own in
 * `$defs`, for clients that open only one kind.
 */
export function streamMessageSchema(): JsonSchema {
  return {
    title: 'Messages of Yardmaster streams',
    description: 'Ignore messages of a type that is not listed here, because later releases may add types.',
    ...toJsonSchema(streamMessage),
  };
}

function toJsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    io: 'input', // Unlike `output`, `input` accepts unknown fields.
    unrepresentable: 'any', // Any JSON value is checked by a function, so its schema is `{}`.
    override({ zodSchema, jsonSchema }) {
      const standIn = openApiSchemaOf(zodSchema);
      if (standIn === null) return;
      const { $schema: _, ...described } = toJsonSchema(standIn);
      Object.assign(jsonSchema, described);
    },
  });
}
