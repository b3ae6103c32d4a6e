import { z } from 'zod';
import { jsonObject, jsonValue } from '../schema/fields.js';
import { count, instant, jobIdField, jobStatus } from '../schema/response-fields.js';
import { type JobEvent, jobEvent } from './events.js';
import { progress } from './progress.js';
import { failRequest } from './requests.js';
import { TERMINAL_STATUSES } from './statuses.js';
import { retry } from './timing.js';
import { unique } from './unique.js';

const listed = {
  id: jobIdField,
  spaceId: z.string(),
  name: z.string(),
  payload: jsonObject.nullable(),
  status: jobStatus,
  maxRetries: count,
  attemptNumber: count.describe(
    'Number of attempts started: 0 at creation, plus 1 at each ack, minus 1 when a running job is released',
  ),
  timeoutSeconds: z.number().describe('Execution window: maximum number of seconds between two heartbeats'),
  deliveredAt: instant.nullable().describe('When the job was last claimed; null while it is pending or scheduled'),
  startedAt: instant.nullable().describe('When the current attempt was acked; null until then'),
  completedAt: instant.nullable().describe('When the job was completed; null in any other status'),
  result: jsonValue.describe('Result reported by the worker; null until the job is completed'),
  error: failRequest.shape.error.optional().describe('Error of the latest failed attempt; absent if none failed'),
  progress: progress.optional().describe('Latest progress report of any attempt; absent before the first'),
  scheduledFor: instant.optional().describe('Time that the job is, or was last, scheduled for; absent if it never was'),
  retry: retry.optional().describe('Delays between attempts; absent if there are none'),
  maxRunSeconds: z.number().optional().describe('Maximum duration of an attempt in seconds; absent without a limit'),
  startWithinSeconds: z
    .number()
    .optional()
    .describe('Maximum number of seconds until the first ack; absent without a limit'),
  priority: z
    .number()
    .meta({ type: 'integer' })
    .optional()
    .describe('Head start in the queue in seconds; absent if it is 0'),
  workerId: z.string().optional().describe('ID of the worker that has the job; absent unless its poll set one'),
  copyOf: jobIdField.optional().describe('ID of the job that this one is a copy of; absent if it is not a copy'),
  unique: unique.optional().describe('Unique key of the job; absent without one'),
  scheduleId: z.string().optional().describe('ID of the schedule that created the job; absent for other jobs'),
  tags: z.array(z.string()).optional().describe('Tags of the job; absent without tags'),
  createdAt: instant,
  updatedAt: instant.describe('Time of the latest event or heartbeat; does not change after the job has ended'),
};

/** A job in the response of List Jobs, without its callback and history. */
export const listedJob = z.object(listed).meta({ id: 'ListedJob' });
export type ListedJob = z.output<typeof listedJob>;

/** Response of List Jobs. */
export const jobList = z.array(listedJob).meta({ id: 'JobList' });

const realtimeUrl = z
  .string()
  .optional()
  .describe('URL of the job stream; only in create responses, and only if the service runs with `COMPAT=emit`');

/** A job with its callback. */
export const job = z
  .object({
    ...listed,
    callbackUrl: z.string().nullable(),
    callbackHeaders: z.record(z.string(), z.string()).nullable(),
    callbackOn: z
      .array(z.enum(TERMINAL_STATUSES))
      .optional()
      .describe('Outcomes that trigger the callback; absent for the default, `completed` and `dead`'),
    realtimeUrl,
  })
  .meta({ id: 'Job' });
export type Job = z.output<typeof job>;

/** The job that holds a unique key, as shown to a caller without the scope jobs:read. */
export const knownJob = z
  .object({ id: jobIdField, name: z.string(), status: jobStatus, createdAt: instant, realtimeUrl })
  .meta({ id: 'KnownJob' });
export type KnownJob = z.output<typeof knownJob>;

/** A job in the response to a create of several jobs. */
export const jobSummary = z
  .object({
    id: jobIdField,
    spaceId: z.string(),
    name: z.string(),
    status: jobStatus,
    createdAt: instant,
    realtimeUrl,
  })
  .meta({ id: 'JobSummary' });
export type JobSummary = z.output<typeof jobSummary>;

/** Response of Create Job to a list of jobs. */
export const createdJobs = z
  .array(jobSummary)
  .describe('The jobs, in the order of the request. For a unique key that was already held, the job that holds it')
  .meta({ id: 'CreatedJobs' });

/** Response of Create Job. */
export const createdJob = z.union([job, knownJob]).meta({ id: 'CreatedJob' });

/** A job in the response of Get Job, with its history unless the query omits it. */
export const jobWithEvents = z
  .object({
    ...job.shape,
    events: z
      .array(jobEvent)
      .optional()
      .describe('History of the job, oldest event first, starting with `created`; absent with `events=0`'),
  })
  .meta({ id: 'JobWithEvents' });
export type JobWithEvents = Job & { events: JobEvent[] };

/** Format of a delivery token, as a regular expression. Clients treat tokens as opaque. */
export const DELIVERY_TOKEN = '^[0-9]{1,9}[.][0-9]{1,9}([.][0-9a-z]{1,11})?$';

/** A job in the responses of poll and claim. */
export const claimedJob = z
  .object({
    id: jobIdField,
    name: z.string(),
    payload: jsonObject.nullable(),
    timeoutSeconds: listed.timeoutSeconds,
    maxRetries: count,
    attemptNumber: count.describe('Number of earlier attempts'),
    createdAt: instant,
    checkpoint: jsonValue.describe('Data of the latest checkpoint of any earlier attempt; null if there is none'),
    attempt: count.describe('Number of this attempt, starting at 1'),
    deliveryToken: z
      .string()
      .describe(
        'Opaque token of this delivery. Calls that send it as `x-delivery-token` have no effect once the worker has lost the job',
      ),
  })
  .meta({ id: 'ClaimedJob' });
export type ClaimedJob = z.output<typeof claimedJob>;

/** Response of Claim Specific Job. */
export const claimOutcome = z
  .discriminatedUnion('claimed', [
    z.object({ claimed: z.literal(true), job: claimedJob }).meta({ id: 'Claimed' }),
    z
      .object({ claimed: z.literal(false), reason: z.enum(['not_pending', 'paused']), status: jobStatus })
      .meta({ id: 'NotClaimed' }),
  ])
  .meta({ id: 'ClaimOutcome' });
export type ClaimOutcome = z.output<typeof claimOutcome>;

/** Response of Get Job Progress. */
export const latestProgress = z
  .object({
    jobId: jobIdField,
    progress: progress.nullable().describe('Latest progress report; null before the first'),
    timestamp: instant.nullable().describe('When the progress was reported; null before the first report'),
  })
  .meta({ id: 'LatestProgress' });
export type LatestProgress = z.output<typeof latestProgress>;
