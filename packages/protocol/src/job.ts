import { z } from 'zod';
import { jobEvent } from './events.js';
import { jsonObject, jsonValue } from './fields.js';
import { progressRequest } from './progress.js';
import { count, instant, jobIdField, jobStatus } from './response-fields.js';

const listed = {
  id: jobIdField,
  spaceId: z.string(),
  name: z.string(),
  payload: jsonObject.nullable(),
  status: jobStatus,
  maxRetries: count,
  attemptNumber: count.describe('Attempts that have started: 0 at creation, one more at each ack'),
  timeoutSeconds: z.number().describe('How long an attempt may be silent'),
  deliveredAt: instant.nullable().describe('Null while pending, also between two attempts'),
  startedAt: instant.nullable().describe('Null until the attempt is acked'),
  completedAt: instant.nullable().describe('Null unless the status is completed'),
  result: jsonValue.describe('What the worker gave at completion; null until then'),
  createdAt: instant,
  updatedAt: instant.describe('Moves with every event and keepalive, and no more once the job has ended'),
};

/** A job as the list shows it: everything but its callback and its history (spec §2.1). */
export const listedJob = z.object(listed);
export type ListedJob = z.output<typeof listedJob>;

/** Response of List Jobs (spec §4.2). */
export const jobList = z.array(listedJob);

/** A job in the response of Create Job. */
export const job = z.object({
  ...listed,
  callbackUrl: z.string().nullable(),
  callbackHeaders: z.record(z.string(), z.string()).nullable(),
});
export type Job = z.output<typeof job>;

/** A job in the response of Get Job: with its history. */
export const jobWithEvents = z.object({
  ...job.shape,
  events: z.array(jobEvent).describe('Oldest first; the first is always `created`'),
});
export type JobWithEvents = z.output<typeof jobWithEvents>;

/** A job as a worker gets it from poll and claim (spec §2.4). */
export const claimedJob = z.object({
  id: jobIdField,
  name: z.string(),
  payload: jsonObject.nullable(),
  timeoutSeconds: listed.timeoutSeconds,
  maxRetries: count,
  attemptNumber: count.describe('Attempts before this one'),
  createdAt: instant,
  // Our addition, so that a retry can resume.
  checkpoint: jsonValue.describe('Data of the latest checkpoint of any earlier attempt, or null'),
});
export type ClaimedJob = z.output<typeof claimedJob>;

/** Response of Poll for Jobs (spec §4.3). */
export const polledJobs = z.object({ jobs: z.array(claimedJob).describe('Oldest first; empty when none waits') });

/** Response of Claim Specific Job (spec §4.4). */
export const claimOutcome = z.discriminatedUnion('claimed', [
  z.object({ claimed: z.literal(true), job: claimedJob }),
  z.object({ claimed: z.literal(false), reason: z.literal('not_pending'), status: jobStatus }),
]);
export type ClaimOutcome = z.output<typeof claimOutcome>;

/** Response of Get Job Progress (spec §4.6). */
export const latestProgress = z.object({
  jobId: jobIdField,
  progress: progressRequest.nullable().describe('Null before the first report'),
  timestamp: instant.nullable().describe('When it was reported; null before the first report'),
});
export type LatestProgress = z.output<typeof latestProgress>;
