import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { describeAs } from '../schema/describe.js';
import { anObject, boundedText, integerBetween, optional, queryText, withDefault } from '../schema/fields.js';
import { claimedJob } from './job.js';
import { filterNames, nameOrNames } from './requests.js';
import { settled, settleList } from './settle.js';

const MAX_WAIT = LIMITS.waitSecondsMax;
const WAIT_RULE = 'must be a number of at least 0, in decimal notation';
const WAIT_BOUND = `above ${MAX_WAIT} is served as ${MAX_WAIT}`;
const capped = (seconds: number) => Math.min(seconds, MAX_WAIT);

const pollWait = withDefault(z.number({ error: WAIT_RULE }).min(0, { error: WAIT_RULE }).transform(capped), 0).describe(
  `How long to wait for the first job while none is pending; ${WAIT_BOUND}`,
);

const secondsInQuery = queryText.regex(/^\d+(\.\d+)?$/, { error: WAIT_RULE }).transform((text) => capped(Number(text)));

/** Query of a call that may wait for the end of a job. */
export const waitQuery = z.object({
  waitSeconds: describeAs(secondsInQuery, z.number().min(0))
    .default(0)
    .describe(`How long to wait for the end of the job; ${WAIT_BOUND}`),
});

const COUNT_RULE = 'must be an integer of at least 1';
const pollCount = z
  .number({ error: COUNT_RULE })
  // `.int()` is not used, because it also refuses numbers above 2^53. Such a number counts as 50.
  .refine((count) => Number.isInteger(count) && count >= 1, { error: COUNT_RULE })
  .meta({ type: 'integer', minimum: 1 });

const ANY_NAME = 'an empty list means any name';

/**
 * Body of Poll for Jobs; an absent body counts as `{}`.
 *
 * The output's `names` are the first filter that is present (types, type, names, name), empty without a filter.
 */
export const pollRequest = z
  .object(
    {
      count: withDefault(
        pollCount.transform((count) => Math.min(count, LIMITS.pollMax)),
        LIMITS.pollDefault,
      ).describe(`Jobs to claim; above ${LIMITS.pollMax} is served as ${LIMITS.pollMax}`),
      types: optional(filterNames()).describe(`Names of jobs to claim; ${ANY_NAME}`),
      type: optional(nameOrNames).describe('Used only without `types`'),
      names: optional(filterNames()).describe('Used only without `types` and `type`'),
      name: optional(nameOrNames).describe('Used only without the other three fields'),
      waitSeconds: pollWait,
      settle: optional(settleList(LIMITS.pollSettleMax)).describe('Outcomes of other jobs of the space, settled first'),
      autoAck: withDefault(z.boolean({ error: 'must be a boolean' }), false).describe(
        'Ack the jobs at once: their attempts start, without a delivery window. Needs the scope jobs:ack',
      ),
      ackWithinSeconds: integerBetween(1, LIMITS.ackWithinSecondsMax)
        .nullable()
        .default(null)
        .describe('Delivery window of the jobs of this poll; default that of the service'),
      workerId: boundedText(LIMITS.workerIdCharacters)
        .nullable()
        .default(null)
        .describe('Shown on the jobs while their attempts last'),
    },
    anObject,
  )
  // Field by field, because the copy of all others would take 5 µs.
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
    jobs: z.array(claimedJob).describe('Oldest first; empty without a pending job'),
    settled: z.array(settled).optional().describe('In the order of `settle`; absent without it'),
  })
  .meta({ id: 'PolledJobs' });
export type PolledJobs = z.output<typeof polledJobs>;
