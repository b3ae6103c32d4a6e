import type { FailRequest, JsonObject, JsonValue, ReleaseRequest, Status } from '@yardmaster/protocol';
import { type Heartbeat, partitionOf } from '@yardmaster/store';
import { publish, recordEvent } from './history.js';
import { changesNothing } from './tokens.js';
import { msOf, startLimitOf, timeOf, wait } from './waiting.js';
import { iso, jobFor, type ModelJob, type OfJob, Refusal, steppedAt, type World } from './world.js';

/** A call of a worker, with the delivery token that it sends, if any. */
export type OfWorker = OfJob & { token?: string | null };

/** The calls that move a job that a worker has, and those that end it. Their fields are those of the body. */
export const ATTEMPT_CALLS = { ack, complete, fail, release, kill };

// Delivered → running → completed, pending again, or dead; and killed from every status that is not terminal.
// Scheduled instead of pending again, when there is a delay.

export function ack(world: World, { job: id, caller, token }: OfWorker): void {
  const job = jobFor(world, id, caller);
  if (changesNothing(job, 'ack', token)) return;
  if (job.status !== 'delivered') throw new Refusal('JOB_NOT_DELIVERED', job.status);
  job.attemptNumber += 1;
  job.deliveryTimeouts = 0;
  job.startedAt = world.now;
  if (job.request.unique?.until === 'started') job.isUniqueFreed = true;
  job.isStarted = true;
  startRun(world, job);
  openWindow(world, job);
  move(world, job, 'running');
  recordEvent(world, job, 'acked');
}

export function heartbeat(world: World, { job: id, caller, token, beat }: OfWorker & { beat: Heartbeat }): void {
  const job = jobFor(world, id, caller);
  if (job.status === 'killed') throw new Refusal('JOB_KILLED', 'killed');
  changesNothing(job, 'heartbeat', token);
  expectRunning(job);
  openWindow(world, job);
  job.updatedAt = world.now;
  if (beat.kind === 'keepalive') return;
  if (beat.kind === 'ephemeral') {
    publish(world, job, { seq: null, type: 'event', data: beat.data, at: world.now });
    return;
  }
  if (beat.kind === 'progress') job.progress = { data: beat.data, at: world.now };
  if (beat.kind === 'checkpoint') job.checkpoint = beat.data;
  recordEvent(world, job, beat.kind, beat.data as JsonValue);
}

export function complete(
  world: World,
  { job: id, caller, token, result = null }: OfWorker & { result?: JsonValue },
): void {
  const job = jobFor(world, id, caller);
  if (changesNothing(job, 'complete', token)) return;
  expectRunning(job);
  job.result = result;
  end(world, job, 'completed');
  recordEvent(world, job, 'completed', result);
}

/** Fields of a worker's failure that decide about the next attempt; those left out have their default. */
export type RetryFields = Partial<Pick<FailRequest, 'retryable' | 'retryAfterSeconds'>>;

export function fail(
  world: World,
  {
    job: id,
    caller,
    token,
    error,
    retryable = true,
    retryAfterSeconds = null,
  }: OfWorker & RetryFields & { error: string | JsonObject },
): void {
  const job = jobFor(world, id, caller);
  if (changesNothing(job, 'give up', token)) return;
  expectRunning(job);
  if (!retryable) die(world, job, error);
  else
    failAttempt(
      world,
      job,
      error,
      retryAfterSeconds === null ? retryDelayMs(job, world.random) : msOf(retryAfterSeconds),
    );
}

/**
 * The job is pending at its place by creation, or scheduled, and an attempt that had started is not
 * counted. A delivered job past its start limit is dead.
 */
export function release(
  world: World,
  { job: id, caller, token, reason = null, delaySeconds = null }: OfWorker & Partial<ReleaseRequest>,
): void {
  const job = jobFor(world, id, caller);
  if (changesNothing(job, 'give up', token)) return;
  if (job.status === 'killed') throw new Refusal('JOB_KILLED', 'killed');
  if (job.status !== 'delivered') expectRunning(job);
  if (isStartOver(world, job)) {
    failStart(world, job);
    return;
  }
  if (job.status === 'running') job.attemptNumber -= 1;
  const scheduledFor = timeOf(world, { scheduledFor: null, delaySeconds });
  returnJob(world, job, scheduledFor);
  recordEvent(world, job, 'released', { reason, ...shownTime(scheduledFor) });
}

/** Write a time into the data of an event, if there is one. */
const shownTime = (scheduledFor: number | null) => (scheduledFor === null ? {} : { scheduledFor: iso(scheduledFor) });

/** Return whether the job was not killed before. */
export function kill(world: World, { job: id, caller, reason = null }: OfJob & { reason?: string | null }): boolean {
  const job = jobFor(world, id, caller);
  if (job.status === 'killed') return false;
  if (job.status === 'completed' || job.status === 'dead') throw new Refusal('JOB_ENDED', job.status);
  job.killReason = reason;
  end(world, job, 'killed');
  recordEvent(world, job, 'killed', { reason });
  return true;
}

/**
 * MaxRetries 3 means at most four runs. A retried job goes to the end of the queue, at once or
 * after a delay.
 */
export function failAttempt(world: World, job: ModelJob, error: string | JsonObject, delayMs: number): void {
  const { attemptNumber } = job;
  if (attemptNumber > job.request.maxRetries) {
    die(world, job, error);
    return;
  }
  job.error = error;
  const scheduledFor = delayMs > 0 ? world.now + delayMs : null;
  giveUp(job);
  returnToWaiting(world, job, scheduledFor);
  recordEvent(world, job, 'retried', { error, attemptNumber, ...shownTime(scheduledFor) });
}

const LONGEST_DELAY_SECONDS = 604_800;

/**
 * Return how long `retry` lets a job wait after its current attempt, in milliseconds.
 *
 * @param random at least 0 and below 1
 */
export function retryDelayMs({ request: { retry }, attemptNumber }: ModelJob, random: number): number {
  if (retry === null) return 0;
  const { delaySeconds, factor, maxDelaySeconds, jitter } = retry;
  const delay = Array.isArray(delaySeconds)
    ? (delaySeconds[Math.min(attemptNumber, delaySeconds.length) - 1] as number)
    : delaySeconds * (factor ?? 1) ** (attemptNumber - 1);
  return msOf(Math.min(delay * (1 - jitter + 2 * jitter * random), maxDelaySeconds ?? LONGEST_DELAY_SECONDS));
}

/** Whether a job that no worker has acked is past its start limit: the limit lasts to the end of its millisecond. */
export function isStartOver(world: World, job: ModelJob): boolean {
  const limit = startLimitOf(job);
  if (limit === null || limit >= world.now) return false;
  // A step of the clock has cut it short: it restarts.
  return limit - msOf(job.request.startWithinSeconds as number) >= steppedAt(world, partitionOf(job.spaceId));
}

/** A job that was not acked within `startWithinSeconds` is dead. */
export function failStart(world: World, job: ModelJob): void {
  die(world, job, `Job was not started within ${job.request.startWithinSeconds} seconds`);
}

export function die(world: World, job: ModelJob, error: string | JsonObject): void {
  giveUp(job);
  job.error = error;
  end(world, job, 'dead');
  recordEvent(world, job, 'dead', { error });
}

/** Take a job back from its worker, before an attempt of it has failed: it waits at its place by creation. */
export function returnJob(world: World, job: ModelJob, scheduledFor: number | null = null): void {
  job.returns += 1;
  giveUp(job, { isTakenBack: true });
  returnToWaiting(world, job, scheduledFor, job.createdOrder);
}

/** Put a job back in the queue, as if it had not been delivered. */
export function returnToWaiting(world: World, job: ModelJob, scheduledFor: number | null, claimOrder?: number): void {
  Object.assign(job, { deliveredAt: null, startedAt: null, deadline: null, runBy: null, updatedAt: world.now });
  wait(world, job, scheduledFor, claimOrder);
}

/** Note that the latest delivery of a job, if any, is over. */
export function giveUp({ deliveries }: ModelJob, how: { isTakenBack?: boolean } = {}): void {
  Object.assign(deliveries.at(-1) ?? {}, { isGivenUp: true, ...how });
}

function expectRunning({ status }: ModelJob): void {
  if (status !== 'running') throw new Refusal('JOB_NOT_RUNNING', status);
}

function move({ now }: World, job: ModelJob, to: Status): void {
  job.status = to;
  job.updatedAt = now;
}

/** Open the execution window, which a heartbeat cannot extend beyond the time limit of the attempt. */
export function openWindow({ now }: World, job: ModelJob): void {
  job.deadline = Math.min(now + msOf(job.request.timeoutSeconds), job.runBy ?? Number.POSITIVE_INFINITY);
}

/** Start the time limit of an attempt, if the job has one. */
export function startRun({ now }: World, job: ModelJob): void {
  const { maxRunSeconds } = job.request;
  job.runBy = maxRunSeconds === null ? null : now + msOf(maxRunSeconds);
}

const DEFAULT_CALLBACK_ON = ['completed', 'dead'];

/** End a job. Its deadline is now that of its purge. A killed job has a callback only on demand. */
function end(world: World, job: ModelJob, to: 'completed' | 'dead' | 'killed'): void {
  const { now, settings } = world;
  job.deadline = settings.retentionMs > 0 ? now + settings.retentionMs : null;
  move(world, job, to);
  const { callbackUrl, callbackOn } = job.request;
  if (callbackUrl === null || !(callbackOn ?? DEFAULT_CALLBACK_ON).includes(to)) return;
  const due = { dueAt: null, dueSince: now, relayAt: now };
  job.callback = { isPending: true, attempts: 0, series: 0, leasedUntil: null, ...due };
}
