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

// Request fields that control when, how often and for how long a job may run.

/** Delay until a job becomes claimable. */
export const delaySeconds = numberBetween(0, LIMITS.delaySecondsMax)
  .nullable()
  .default(null)
  .describe('Minimum number of seconds until the job becomes claimable');

/** Fields of Create Job that set when the job becomes claimable. */
export const startTime = {
  scheduledFor: timestampMs
    .nullable()
    .default(null)
    .describe('Earliest time to run the job (ISO 8601 with a time zone); a time in the past means now'),
  delaySeconds: delaySeconds.describe(
    'Minimum number of seconds until the job becomes claimable; cannot be combined with `scheduledFor`',
  ),
};

/** When a job becomes claimable, as requested: at most one of the two fields is set. */
export interface StartTime {
  /** Epoch milliseconds. */
  scheduledFor: number | null;
  delaySeconds: number | null;
}

/** Return whether at most one of the two fields is set. */
const notBoth = ({ scheduledFor, delaySeconds }: StartTime) => scheduledFor === null || delaySeconds === null;
const NOT_BOTH = { path: ['delaySeconds'], error: 'cannot be combined with scheduledFor' };
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

/** Default of `jitter`: each delay is multiplied by a random factor of 0.8 to 1.2. */
export const JITTER_DEFAULT = 0.2;

/** Make the schema of `retry`: how long to wait before each retry. */
export const retrySchema = (meta: { id: string; additionalProperties?: false }) =>
  z
    .object(
      {
        delaySeconds: describeAs(
          checkedDelays,
          z.union([retryDelay, z.array(retryDelay).min(1).max(LIMITS.retryDelays)]),
        ).describe('Delay in seconds before each retry; or a list with one delay per retry, the last of which repeats'),
        factor: numberBetween(1, LIMITS.retryFactorMax)
          .nullable()
          .default(null)
          .describe(
            'Multiplier applied to the delay after each retry; null means 1. Not allowed with a list of delays',
          ),
        maxDelaySeconds: numberBetween(0, LIMITS.retryDelaySecondsMax)
          .nullable()
          .default(null)
          .describe(`Maximum delay in seconds, after factor and jitter; null means ${LIMITS.retryDelaySecondsMax}`),
        jitter: withDefault(numberBetween(0, 1), JITTER_DEFAULT).describe(
          'Random variation of each delay, as a fraction: `0.2` varies it by up to 20% in either direction',
        ),
      },
      anObject,
    )
    .refine(({ delaySeconds, factor }) => typeof delaySeconds === 'number' || factor === null, {
      path: ['factor'],
      error: 'cannot be combined with a list of delays',
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

/** Field `retry` of a job, without members that are at their defaults. */
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
 * Format a retry policy for a response, without members that are at their defaults. A list of one delay is shown as that
 * delay, because the record does not distinguish them.
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
  retry: retryRequest.nullable().default(null).describe('Delays between attempts; null to retry without a delay'),
  maxRunSeconds: secondsUpTo(LIMITS.maxRunSecondsMax)
    .nullable()
    .default(null)
    .describe('Maximum duration of an attempt in seconds; heartbeats do not extend it'),
  startWithinSeconds: secondsUpTo(LIMITS.startWithinSecondsMax)
    .nullable()
    .default(null)
    .describe(
      'Maximum number of seconds from when the job becomes claimable to its first ack; if exceeded, the job is dead',
    ),
  priority: withDefault(priority, 0).describe(
    'Head start in the queue in seconds: the job is treated as if it had been created this much earlier',
  ),
};

/** Refuse both fields at once in the schema of an object that has them. */
export const withStartTime = <T extends z.ZodType<StartTime>>(schema: T) =>
  schema.refine(notBoth, NOT_BOTH).meta(SHOWN_NOT_BOTH);

const SCHEDULE_RULE = 'or delaySeconds is required';

/** Body of Reschedule Job. */
export const rescheduleRequest = withStartTime(
  z.object(
    { ...startTime, priority: priority.nullable().default(null).describe('New head start in seconds; null keeps it') },
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

/** Body of `POST /test/clock`; 0 only reads the clock. */
export const advanceClockRequest = z.object({ advanceSeconds: numberBetween(0, LIMITS.delaySecondsMax) });

/** Response of `POST /test/clock`: the new time. */
export const clockResponse = z.object({ now: instant });
