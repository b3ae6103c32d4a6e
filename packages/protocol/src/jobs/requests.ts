import { z } from 'zod';
import { callbackHeaders, callbackUrl } from '../callback.js';
import { LIMITS } from '../limits.js';
import { describeAs } from '../schema/describe.js';
import {
  anObject,
  boundedArray,
  integerBetween,
  isJsonObject,
  type JsonObject,
  jsonObject,
  jsonValue,
  name,
  nameFilter,
  numberBetween,
  oneOrMore,
  optional,
  queryFlag,
  refuseJsonFaults,
  required,
  secondsUpTo,
  tagsRequest,
  wellFormed,
  withDefault,
} from '../schema/fields.js';
import { TERMINAL_STATUSES } from './statuses.js';
import { delaySeconds, retrySchema, startTime, timing, withStartTime } from './timing.js';
import { uniqueRequest, uniqueSchema } from './unique.js';

/** Make the schema of a list of names to match. */
export const filterNames = (error = 'must be an array of strings') =>
  boundedArray(nameFilter, { max: LIMITS.pollNames, what: 'names', error });

/** One name or a list of them. */
export const nameOrNames = describeAs(
  oneOrMore(filterNames('must be a string or an array of strings')),
  z.union([nameFilter, z.array(nameFilter).max(LIMITS.pollNames)]),
);

// Request bodies and queries, one schema each. Unknown fields are ignored. The output of a schema is the input of the
// store's verbs.

const ENDS_RULE = `must be a list of at least one of ${TERMINAL_STATUSES.join(', ')}`;
const END_RULE = `must be one of ${TERMINAL_STATUSES.join(', ')}`;

/** Outcomes that trigger the callback, in canonical order; null for the default. */
const callbackOn = describeAs(
  z
    .array(z.enum(TERMINAL_STATUSES, { error: END_RULE }), { error: ENDS_RULE })
    .min(1, { error: ENDS_RULE })
    .max(LIMITS.callbackEnds, { error: ENDS_RULE })
    .transform((ends) => TERMINAL_STATUSES.filter((status) => ends.includes(status))),
  z
    .array(z.enum(TERMINAL_STATUSES))
    .min(1)
    .max(LIMITS.callbackEnds)
    .describe('Outcomes that trigger the callback; null for `completed` and `dead`'),
);

/** Fields of Create Job, except those that control when the job runs. */
const request = {
  name: name.describe('Kind of work, such as `resize`; workers poll for names'),
  payload: jsonObject.nullable().default(null).describe('Data for the worker'),
  maxRetries: optional(integerBetween(0, LIMITS.maxRetriesMax))
    .describe('Number of retries after the first attempt; each failed or timed-out attempt uses one')
    .meta({ default: LIMITS.maxRetriesDefault }),
  timeoutSeconds: optional(secondsUpTo(LIMITS.timeoutSecondsMax))
    .describe('Execution window: maximum number of seconds between two heartbeats')
    .meta({ default: LIMITS.timeoutSecondsDefault }),
  callbackUrl: callbackUrl
    .nullable()
    .default(null)
    .describe('URL to send a POST request to when the job ends; http or https, without a username or password'),
  callbackHeaders: callbackHeaders.nullable().default(null).describe('Headers to add to the callback'),
  callbackOn: callbackOn
    .nullable()
    .default(null)
    .describe('Outcomes that trigger the callback; null for `completed` and `dead`'),
  unique: uniqueRequest.nullable().default(null).describe('Unique key: create the job only if no other job holds it'),
  tags: tagsRequest.nullable().default(null).describe('Labels to find and filter jobs by; duplicates are refused'),
  ...timing,
};

/** Body of Create Job. */
export const createJobRequest = withStartTime(z.object({ ...request, ...startTime }, anObject)).meta({
  id: 'CreateJob',
});
export type CreateJobRequest = z.output<typeof createJobRequest>;

/** Body of the jobs that a schedule creates: Create Job without its time. */
export const repeatedJobRequest = z
  .object(request, anObject)
  .transform((job): CreateJobRequest => ({ ...job, scheduledFor: null, delaySeconds: null }));
const EXACT = { additionalProperties: false } as const;
describeAs(
  repeatedJobRequest,
  z
    .object({
      ...request,
      unique: uniqueSchema({ id: 'ScheduledUnique', ...EXACT })
        .nullable()
        .default(null),
      retry: retrySchema({ id: 'ScheduledRetry', ...EXACT })
        .nullable()
        .default(null),
    })
    .meta({ id: 'ScheduledJob', ...EXACT }),
);

/** Body of Create Job for several jobs. Only the OpenAPI document uses it; each job is checked on its own. */
export const createJobsRequest = z
  .array(createJobRequest)
  .min(1)
  .max(LIMITS.createMax)
  .describe('Jobs to create, in this order. None may have `unique.onConflict` set to `reject`')
  .meta({ id: 'CreateJobs' });

/** Body of Checkpoint and Custom Event: any JSON value; an absent body is null. */
export const dataRequest = jsonValue;

/** Query of Record an Event. */
export const eventOptions = z.object({
  ephemeral: queryFlag
    .default(false)
    .describe(
      'Whether to send the event only to open streams, without storing it in the history. Interrupted streams miss it',
    ),
});

/** Body of Complete Job; an absent body or result is null. */
export const completeRequest = z
  .object({ result: jsonValue.default(null).describe('Any JSON value') }, anObject)
  .meta({ id: 'Completion' });

const isMessage = (value: unknown): value is string | JsonObject => typeof value === 'string' || isJsonObject(value);

/** Body of Fail Job. */
export const failRequest = z
  .object(
    {
      error: z
        .custom<string | JsonObject>(isMessage, { ...required('must be a string or an object'), abort: true })
        .superRefine(refuseJsonFaults)
        .transform(wellFormed)
        .meta({
          anyOf: [{ type: 'string' }, { type: 'object', additionalProperties: true }],
          description: 'Why the attempt failed: a message, or an object',
        }),
      retryable: withDefault(z.boolean({ error: 'must be a boolean' }), true).describe(
        'Whether the job may be retried; with `false` it is dead, even if it has retries left',
      ),
      retryAfterSeconds: numberBetween(0, LIMITS.retryDelaySecondsMax)
        .nullable()
        .default(null)
        .describe('Seconds to wait before the next attempt, instead of the delay in `retry`'),
    },
    anObject,
  )
  .meta({ id: 'Failure' });
export type FailRequest = z.output<typeof failRequest>;

const reason = z
  .string({ error: 'must be a string' })
  .nullable()
  .default(null)
  .describe('Reason, recorded in the history');

/** Body of Release Job; an absent body or reason is null. */
export const releaseRequest = z.object({ reason, delaySeconds }, anObject).meta({ id: 'Release' });
export type ReleaseRequest = z.output<typeof releaseRequest>;

/** Body of Requeue Job; an absent body means without a delay. */
export const requeueRequest = z.object({ delaySeconds }, anObject).meta({ id: 'Requeue' });
export type RequeueRequest = z.output<typeof requeueRequest>;

/** Body of Copy Job; an absent body keeps the payload. */
export const copyRequest = z
  .object({ payload: optional(jsonObject).describe('Payload of the copy. Default: that of the job') }, anObject)
  .meta({ id: 'Copy' });
export type CopyRequest = z.output<typeof copyRequest>;

/** Body of Kill Job; an absent body or reason is null. */
export const killRequest = z.object({ reason }, anObject).meta({ id: 'Kill' });
