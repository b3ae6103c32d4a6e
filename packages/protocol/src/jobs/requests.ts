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
import { delaySeconds, timing, withSchedule } from './timing.js';
import { uniqueRequest } from './unique.js';

/** Make a schema of a list of names to look for. */
export const filterNames = (error = 'must be an array of strings') =>
  boundedArray(nameFilter, { max: LIMITS.pollNames, what: 'names', error });

/** One name or a list of them. */
export const nameOrNames = describeAs(
  oneOrMore(filterNames('must be a string or an array of strings')),
  z.union([nameFilter, z.array(nameFilter).max(LIMITS.pollNames)]),
);

// Request bodies and queries, one schema each. Unknown fields are ignored everywhere. The output of a schema is the
// input of the store's verbs.

const ENDS_RULE = `must be a list of ${TERMINAL_STATUSES.join(', ')}, with at least one of them`;
const END_RULE = `must be one of ${TERMINAL_STATUSES.join(', ')}`;

/** Ends of a job after which its callback is sent, in one order; null for the default. */
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
    .describe('Ends after which the callback is sent; default completed and dead'),
);

/** Body of Create Job. */
export const createJobRequest = withSchedule(
  z.object(
    {
      name,
      payload: jsonObject.nullable().default(null).describe('Data for the worker'),
      maxRetries: optional(integerBetween(0, LIMITS.maxRetriesMax))
        .describe('Attempts after the first; each failure or timeout of an attempt uses one')
        .meta({ default: LIMITS.maxRetriesDefault }),
      timeoutSeconds: optional(secondsUpTo(LIMITS.timeoutSecondsMax))
        .describe('Execution window: how long an attempt may take between two heartbeats')
        .meta({ default: LIMITS.timeoutSecondsDefault }),
      callbackUrl: callbackUrl.nullable().default(null),
      callbackHeaders: callbackHeaders.nullable().default(null),
      callbackOn: callbackOn.nullable().default(null),
      unique: uniqueRequest.nullable().default(null),
      tags: tagsRequest.nullable().default(null).describe('Words by which jobs are found; no tag twice'),
      ...timing,
    },
    anObject,
  ),
).meta({ id: 'CreateJob' });
export type CreateJobRequest = z.output<typeof createJobRequest>;

/** Body of Create Job for several jobs. It only describes: each job is checked on its own. */
export const createJobsRequest = z
  .array(createJobRequest)
  .min(1)
  .max(LIMITS.createMax)
  .describe('Jobs to create, in this order; `unique.onConflict` must not be `reject`')
  .meta({ id: 'CreateJobs' });

/** Body of Checkpoint and of Custom Event: any JSON; an absent body is null. */
export const dataRequest = jsonValue;

/** Query of Record an Event. */
export const eventOptions = z.object({
  ephemeral: queryFlag
    .default(false)
    .describe(
      'Whether only open streams get the event: the history does not, and a stream that is interrupted misses it',
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
          description: 'Reason of the failure, for people or for programs',
        }),
      retryable: withDefault(z.boolean({ error: 'must be a boolean' }), true).describe(
        'false ends the job: it is dead, whatever retries it has left',
      ),
      retryAfterSeconds: numberBetween(0, LIMITS.retryDelaySecondsMax)
        .nullable()
        .default(null)
        .describe('Delay before the next attempt, instead of that of `retry`'),
    },
    anObject,
  )
  .meta({ id: 'Failure' });
export type FailRequest = z.output<typeof failRequest>;

const reason = z.string({ error: 'must be a string' }).nullable().default(null).describe('Reason, for the history');

/** Body of Release Job; an absent body or reason is null. */
export const releaseRequest = z.object({ reason, delaySeconds }, anObject).meta({ id: 'Release' });
export type ReleaseRequest = z.output<typeof releaseRequest>;

/** Body of Requeue Job; an absent body means now. */
export const requeueRequest = z.object({ delaySeconds }, anObject).meta({ id: 'Requeue' });
export type RequeueRequest = z.output<typeof requeueRequest>;

/** Body of Copy Job; an absent body copies the payload too. */
export const copyRequest = z
  .object({ payload: optional(jsonObject).describe('Another payload; default that of the job') }, anObject)
  .meta({ id: 'Copy' });
export type CopyRequest = z.output<typeof copyRequest>;

/** Body of Kill Job; an absent body or reason is null. */
export const killRequest = z.object({ reason }, anObject).meta({ id: 'Kill' });
