import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { describeAs } from '../schema/describe.js';
import { anObject, boundedText, integerBetween, optional, queryText, withDefault } from '../schema/fields.js';
import { claimedJob } from './job.js';
import { filterNames, nameOrNames } from './requests.js';
import { settled, settleList } from './settle.js';

const MAX_WAIT = LIMITS.waitSecondsMax;
const WAIT_RULE = 'must be a number of at least 0, in decimal notation';
const WAIT_BOUND = `values above ${MAX_WAIT} are capped at ${MAX_WAIT}`;
const capped = (seconds: number) => Math.min(seconds, MAX_WAIT);

const pollWait = withDefault(z.number({ error: WAIT_RULE }).min(0, { error: WAIT_RULE }).transform(capped), 0).describe(
  `Maximum number of seconds to wait for the first job if none is pending; ${WAIT_BOUND}`,
);

const secondsInQuery = queryText.regex(/^\d+(\.\d+)?$/, { error: WAIT_RULE }).transform((text) => capped(Number(text)));

/** Query of a call that may wait for a job to end. */
export const waitQuery = z.object({
  waitSeconds: describeAs(secondsInQuery, z.number().min(0))
    .default(0)
    .describe(`Maximum number of seconds to wait for the job to end; ${WAIT_BOUND}`),
});

const COUNT_RULE = 'must be an integer of at least 1';
const pollCount = z
  .number({ error: COUNT_RULE })
  // Not `.int()`, which would refuse numbers above 2^53. Such a number is capped at 50.
  .refine((count) => Number.isInteger(count) && count >= 1, { error: COUNT_RULE })
  .meta({ type: 'integer', minimum: 1 });

/**
 * Body of Poll for Jobs; an absent body is read as `{}`.
 *
 * `names` of the output is the first filter present (types, type, names, name), or empty without a filter.
 */
export const pollRequest = z
  .object(
    {
      count: withDefault(
        pollCount.transform((count) => Math.min(count, LIMITS.pollMax)),
        LIMITS.pollDefault,
      ).describe(`Maximum number of jobs to claim; values above ${LIMITS.pollMax} are capped at ${LIMITS.pollMax}`),
      types: optional(filterNames()).describe('Names of the jobs to claim; an empty list means any name'),
      type: optional(nameOrNames).describe('Alias of `types`; ignored if `types` is present'),
      names: optional(filterNames()).describe('Alias of `types`; ignored if `types` or `type` is present'),
      name: optional(nameOrNames).describe('Alias of `types`; ignored if any of the other three is present'),
      waitSeconds: pollWait,
      settle: optional(settleList(LIMITS.pollSettleMax)).describe(
        'Outcomes of other jobs in the space, to settle before claiming',
      ),
      autoAck: withDefault(z.boolean({ error: 'must be a boolean' }), false).describe(
        'Whether to ack the jobs as they are claimed: their attempts start without a delivery window. Requires the scope `jobs:ack`',
      ),
      ackWithinSeconds: integerBetween(1, LIMITS.ackWithinSecondsMax)
        .nullable()
        .default(null)
        .describe('Delivery window, in seconds, of the jobs claimed by this poll; null for that of the service'),
      workerId: boundedText(LIMITS.workerIdCharacters)
        .nullable()
        .default(null)
        .describe('ID of the worker, shown on its jobs during their attempts'),
    },
    anObject,
  )
  // Field by field, because copying the rest of the object would take 5 µs.
  .transform((body) => ({
    names: [...new Set(body.types ?? body.type ?? body.names ?? body.name ?? [])],
    count: body.count,
    waitSeconds: body.waitSeconds,
    settle: body.settle,
    autoAck: body.autoAck,
    ackWithinSeconds: body.ackWithinSeconds,
    workerId: body.workerId,
  }))
  .meta({ id: 'Poll' });
export type PollRequest = z.output<typeof pollRequest>;

/** Response of Poll for Jobs. */
export const polledJobs = z
  .object({
    jobs: z.array(claimedJob).describe('Claimed jobs, oldest first; empty if none was pending'),
    settled: z.array(settled).optional().describe('Results in the order of `settle`; absent without `settle`'),
  })
  .meta({ id: 'PolledJobs' });
export type PolledJobs = z.output<typeof polledJobs>;
