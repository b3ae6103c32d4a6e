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
    'Attempts that have started: 0 at creation, one more at each ack, one less at the release of a running job',
  ),
  timeoutSeconds: z.number().describe('Execution window: how long an attempt may take between two heartbeats'),
  deliveredAt: instant.nullable().describe('Null while pending, also between two attempts'),
  startedAt: instant.nullable().describe('Null until the attempt is acked'),
  completedAt: instant.nullable().describe('Null unless the status is completed'),
  result: jsonValue.describe('Result of the worker; null until completion'),
  error: failRequest.shape.error.optional().describe('Error of the latest attempt that failed; absent without one'),
  progress: progress.optional().describe('Latest report of any attempt; absent before the first'),
  scheduledFor: instant
    .optional()
    .describe('Last time for which the job waits or waited; absent for one that never had to'),
  retry: retry.optional().describe('Delays between attempts; absent without any'),
  maxRunSeconds: z.number().optional().describe('How long one attempt may take; absent without a limit'),
  startWithinSeconds: z
    .number()
    .optional()
    .describe('How long the job may wait for its first ack; absent without a limit'),
  priority: z.number().meta({ type: 'integer' }).optional().describe('Head start in seconds; absent without one'),
  workerId: z.string().optional().describe('Of the worker that has the job, when its poll named it'),
  copyOf: jobIdField.optional().describe('Job of which this one is a copy; absent for one that is none'),
  unique: unique.optional().describe('Absent for a job without a unique key'),
  tags: z.array(z.string()).optional().describe('Absent for a job without tags'),
  createdAt: instant,
  updatedAt: instant.describe('Time of the latest event or keepalive; it does not change after the job has ended'),
};

/** A job in the response of List Jobs: without its callback and its history. */
export const listedJob = z.object(listed).meta({ id: 'ListedJob' });
export type ListedJob = z.output<typeof listedJob>;

/** Response of List Jobs. */
export const jobList = z.array(listedJob).meta({ id: 'JobList' });

const realtimeUrl = z
  .string()
  .optional()
  .describe('URL of the stream of the job; only in the response to its creation, and only with `COMPAT=emit`');

/** A job with its callback. */
export const job = z
  .object({
    ...listed,
    callbackUrl: z.string().nullable(),
    callbackHeaders: z.record(z.string(), z.string()).nullable(),
    callbackOn: z
      .array(z.enum(TERMINAL_STATUSES))
      .optional()
      .describe('Ends after which the callback is sent; absent for completed and dead'),
    realtimeUrl,
  })
  .meta({ id: 'Job' });
export type Job = z.output<typeof job>;

/** The job that occupies a unique key, for a caller without the scope jobs:read. */
export const knownJob = z
  .object({ id: jobIdField, name: z.string(), status: jobStatus, createdAt: instant, realtimeUrl })
  .meta({ id: 'KnownJob' });
export type KnownJob = z.output<typeof knownJob>;

/** A job in the response to the creation of several. */
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
  .describe('The jobs in the order of the request; one that occupies a unique key stands for the job that has it')
  .meta({ id: 'CreatedJobs' });

/** Response of Create Job. */
export const createdJob = z.union([job, knownJob]).meta({ id: 'CreatedJob' });

/** A job in the response of Get Job: with its history, unless the query leaves it out. */
export const jobWithEvents = z
  .object({
    ...job.shape,
    events: z
      .array(jobEvent)
      .optional()
      .describe('Oldest first. A whole history begins with `created`; absent with `events=0`'),
  })
  .meta({ id: 'JobWithEvents' });
export type JobWithEvents = Job & { events: JobEvent[] };

/** Form of a delivery token, as a regular expression. Clients treat a token as opaque. */
export const DELIVERY_TOKEN = '^[0-9]{1,9}[.][0-9]{1,9}([.][0-9a-z]{1,11})?$';

/** A job in the responses of poll and claim. */
export const claimedJob = z
  .object({
    id: jobIdField,
    name: z.string(),
    payload: jsonObject.nullable(),
    timeoutSeconds: listed.timeoutSeconds,
    maxRetries: count,
    attemptNumber: count.describe('Attempts before this one'),
    createdAt: instant,
    checkpoint: jsonValue.describe('Data of the latest checkpoint of any earlier attempt, or null'),
    attempt: count.describe('Number of the attempt that an ack starts, from 1'),
    deliveryToken: z
      .string()
      .describe('Opaque; sent back as `x-delivery-token`, it makes calls of a worker that lost the job change nothing'),
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
    progress: progress.nullable().describe('Null before the first report'),
    timestamp: instant.nullable().describe('When it was reported; null before the first report'),
  })
  .meta({ id: 'LatestProgress' });
export type LatestProgress = z.output<typeof latestProgress>;
