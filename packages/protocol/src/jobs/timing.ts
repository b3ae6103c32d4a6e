import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { describeAs } from '../schema/describe.js';
import {
  anObject,
  boundedArray,
  integerBetween,
  numberBetween,
  secondsUpTo,
  timestampMs,
  withDefault,
} from '../schema/fields.js';
import { instant } from '../schema/response-fields.js';

// Fields of requests that say when, how often and for how long a job may run.

/** A delay, for which a request may give the time itself instead. */
export const delaySeconds = numberBetween(0, LIMITS.delaySecondsMax)
  .nullable()
  .default(null)
  .describe('Minimum seconds to wait first');

const schedule = {
  scheduledFor: timestampMs
    .nullable()
    .default(null)
    .describe('Not before this time, ISO 8601 with a time zone; a time in the past means now'),
  delaySeconds: delaySeconds.describe('The same, in seconds from now; not together with `scheduledFor`'),
};

/** Time at which a job becomes claimable, as a request has it: at most one of the two is not null. */
export interface Schedule {
  /** Epoch milliseconds. */
  scheduledFor: number | null;
  delaySeconds: number | null;
}

/** Rule of the two fields of a schedule, as `refine` takes it. */
const notBoth = ({ scheduledFor, delaySeconds }: Schedule) => scheduledFor === null || delaySeconds === null;
const NOT_BOTH = { path: ['delaySeconds'], error: 'must not be given together with scheduledFor' };
/** The same rule for the OpenAPI document. */
const SHOWN_NOT_BOTH = {
  not: {
    properties: { scheduledFor: { type: 'string' }, delaySeconds: { type: 'number' } },
    required: ['scheduledFor', 'delaySeconds'],
  },
} as const;

const retryDelay = numberBetween(0, LIMITS.retryDelaySecondsMax);
const RETRY_DELAYS = `must be a number or an array of 1 to ${LIMITS.retryDelays} numbers`;
const retryDelays = boundedArray(retryDelay, { max: LIMITS.retryDelays, what: 'delays', error: RETRY_DELAYS });

const checkedDelays = z.unknown().transform((value, ctx): number | number[] => {
  const isList = Array.isArray(value) && value.length > 0;
  const outcome = (isList ? retryDelays : retryDelay).safeParse(value);
  if (outcome.success) return outcome.data;
  const rule = value === undefined ? 'is required' : RETRY_DELAYS;
  for (const { path, message } of outcome.error.issues) {
    ctx.addIssue({ code: 'custom', message: isList || typeof value === 'number' ? message : rule, path });
  }
  return z.NEVER;
});

/** Default of `jitter`: each delay is multiplied by 0.8 to 1.2. */
export const JITTER_DEFAULT = 0.2;

/** Make a schema of `retry`: how long to wait before each further attempt. */
export const retrySchema = (meta: { id: string; additionalProperties?: false }) =>
  z
    .object(
      {
        delaySeconds: describeAs(
          checkedDelays,
          z.union([retryDelay, z.array(retryDelay).min(1).max(LIMITS.retryDelays)]),
        ).describe('Delay before each further attempt, or a delay for each, of which the last repeats; 0 for none'),
        factor: numberBetween(1, LIMITS.retryFactorMax)
          .nullable()
          .default(null)
          .describe('Factor by which each delay is longer than the previous one; default 1; not with a list of delays'),
        maxDelaySeconds: numberBetween(0, LIMITS.retryDelaySecondsMax)
          .nullable()
          .default(null)
          .describe(`Longest delay, after factor and jitter; default ${LIMITS.retryDelaySecondsMax}`),
        jitter: withDefault(numberBetween(0, 1), JITTER_DEFAULT).describe(
          'Share of a delay by which it is shortened or lengthened at random',
        ),
      },
      anObject,
    )
    .refine(({ delaySeconds, factor }) => typeof delaySeconds === 'number' || factor === null, {
      path: ['factor'],
      error: 'must not be given with a list of delays',
    })
    .meta({
      if: { properties: { delaySeconds: { type: 'array' } } },
      // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
      then: { properties: { factor: { type: 'null' } } },
    })
    .meta(meta);

/** Field `retry` of Create Job. */
export const retryRequest = retrySchema({ id: 'RetryRequest' });
export type RetryRequest = z.output<typeof retryRequest>;

/** Field `retry` of a job: the members that are not at their defaults. */
export const retry = z
  .object({
    delaySeconds: z.union([z.number(), z.array(z.number())]),
    factor: z.number().optional(),
    maxDelaySeconds: z.number().optional(),
    jitter: z.number().optional(),
  })
  .meta({ id: 'Retry' });
export type Retry = z.output<typeof retry>;

/**
 * Return the retry policy of a job as the job shows it, without the members that are at their defaults. A list of one
 * delay is shown as that delay, because the record does not distinguish them.
 */
export function retryOf({ delaySeconds, factor, maxDelaySeconds, jitter }: RetryRequest): Retry {
  const [first, ...others] = [delaySeconds].flat();
  return {
    delaySeconds: others.length === 0 ? (first as number) : delaySeconds,
    ...(factor !== null && factor !== 1 && { factor }),
    ...(maxDelaySeconds !== null && maxDelaySeconds !== LIMITS.retryDelaySecondsMax && { maxDelaySeconds }),
    ...(jitter !== JITTER_DEFAULT && { jitter }),
  };
}

const priority = integerBetween(-LIMITS.prioritySecondsMax, LIMITS.prioritySecondsMax);

/** Fields of Create Job. */
export const timing = {
  ...schedule,
  retry: retryRequest.nullable().default(null),
  maxRunSeconds: secondsUpTo(LIMITS.maxRunSecondsMax)
    .nullable()
    .default(null)
    .describe('How long one attempt may take; heartbeats do not extend it'),
  startWithinSeconds: secondsUpTo(LIMITS.startWithinSecondsMax)
    .nullable()
    .default(null)
    .describe('How long the job may wait for its first ack, from the moment it can be claimed; then it is dead'),
  priority: withDefault(priority, 0).describe(
    'Head start in seconds: the job stands in the queue as if it had been created so much earlier',
  ),
};

/** Add the rule of the two fields of a schedule to a schema of an object that has them. */
export const withSchedule = <T extends z.ZodType<Schedule>>(schema: T) =>
  schema.refine(notBoth, NOT_BOTH).meta(SHOWN_NOT_BOTH);

const SCHEDULE_RULE = 'or delaySeconds is required';

/** Body of Reschedule Job. */
export const rescheduleRequest = withSchedule(
  z.object(
    { ...schedule, priority: priority.nullable().default(null).describe('Another head start, in seconds') },
    anObject,
  ),
)
  .refine(({ scheduledFor, delaySeconds }) => scheduledFor !== null || delaySeconds !== null, {
    path: ['scheduledFor'],
    error: SCHEDULE_RULE,
  })
  .meta({
    anyOf: [
      { properties: { scheduledFor: { type: 'string' } }, required: ['scheduledFor'] },
      { properties: { delaySeconds: { type: 'number' } }, required: ['delaySeconds'] },
    ],
  })
  .meta({ id: 'Reschedule' });
export type RescheduleRequest = z.output<typeof rescheduleRequest>;

/** Body of `POST /test/clock`. With 0 it only reads the clock. */
export const advanceClockRequest = z.object({ advanceSeconds: numberBetween(0, LIMITS.delaySecondsMax) });

/** What the clock shows then. */
export const clockResponse = z.object({ now: instant });
