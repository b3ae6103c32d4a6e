import type { JsonObject, JsonValue, Status } from '@yardmaster/protocol';
import type { Heartbeat } from '@yardmaster/store';
import { recordEvent } from './history.js';
import { jobFor, type ModelJob, nextPlace, type OfJob, Refusal, type World } from './world.js';

// Spec §3: delivered → running → completed, pending again, or dead; and killed from every status that is not terminal.

export function ack(world: World, { job: id, caller }: OfJob): void {
  const job = jobFor(world, id, caller);
  if (job.status !== 'delivered') throw new Refusal('JOB_NOT_DELIVERED', job.status);
  job.attemptNumber += 1;
  job.deliveryTimeouts = 0;
  job.startedAt = world.now;
  if (job.request.unique?.until === 'started') job.isUniqueFreed = true;
  openWindow(world, job);
  move(world, job, 'running');
  recordEvent(world, job, 'acked');
}

export function heartbeat(world: World, { job: id, caller, beat }: OfJob & { beat: Heartbeat }): void {
  const job = jobFor(world, id, caller);
  if (job.status === 'killed') throw new Refusal('JOB_KILLED', 'killed');
  expectRunning(job);
  openWindow(world, job);
  job.updatedAt = world.now;
  if (beat.kind === 'keepalive') return;
  if (beat.kind === 'progress') job.progress = { data: beat.data, at: world.now };
  if (beat.kind === 'checkpoint') job.checkpoint = beat.data;
  recordEvent(world, job, beat.kind, beat.data as JsonValue);
}

export function complete(world: World, { job: id, caller, result }: OfJob & { result: JsonValue }): void {
  const job = jobFor(world, id, caller);
  expectRunning(job);
  job.result = result;
  end(world, job, 'completed');
  recordEvent(world, job, 'completed', result);
}

export function fail(world: World, { job: id, caller, error }: OfJob & { error: string | JsonObject }): void {
  const job = jobFor(world, id, caller);
  expectRunning(job);
  failAttempt(world, job, error);
}

export function kill(world: World, { job: id, caller, reason }: OfJob & { reason: string | null }): void {
  const job = jobFor(world, id, caller);
  if (job.status === 'killed') return;
  if (job.status === 'completed' || job.status === 'dead') throw new Refusal('JOB_ENDED', job.status);
  end(world, job, 'killed');
  recordEvent(world, job, 'killed', { reason });
}

/** Contract §3, "Retries": maxRetries 3 means at most four runs. A retried job goes to the end of the queue. */
export function failAttempt(world: World, job: ModelJob, error: string | JsonObject): void {
  const { attemptNumber } = job;
  if (attemptNumber <= job.request.maxRetries) {
    job.queuePlace = nextPlace(world, job.spaceId);
    returnToQueue(world, job);
    recordEvent(world, job, 'retried', { error, attemptNumber });
  } else die(world, job, error);
}

export function die(world: World, job: ModelJob, error: string | JsonObject): void {
  job.error = error;
  end(world, job, 'dead');
  recordEvent(world, job, 'dead', { error });
}

/** Set a job back to pending, as if it had not been delivered. The caller sets its place in the queue. */
export function returnToQueue(world: World, job: ModelJob): void {
  job.deliveredAt = null;
  job.startedAt = null;
  job.deadline = null;
  move(world, job, 'pending');
}

function expectRunning({ status }: ModelJob): void {
  if (status !== 'running') throw new Refusal('JOB_NOT_RUNNING', status);
}

function move({ now }: World, job: ModelJob, to: Status): void {
  job.status = to;
  job.updatedAt = now;
}

/** Open the execution window: whole milliseconds, rounded up so that it is never shorter than the job's. */
function openWindow({ now }: World, job: ModelJob): void {
  job.deadline = now + Math.ceil(job.request.timeoutSeconds * 1_000);
}

/** End a job. Its deadline is now that of its purge, and a killed job has no callback (spec §6.3). */
function end(world: World, job: ModelJob, to: 'completed' | 'dead' | 'killed'): void {
  const { now, settings } = world;
  job.deadline = settings.retentionMs > 0 ? now + settings.retentionMs : null;
  move(world, job, to);
  if (to === 'killed' || job.request.callbackUrl === null) return;
  const due = { dueAt: null, dueSince: now, relayAt: now };
  job.callback = { isPending: true, attempts: 0, series: 0, leasedUntil: null, ...due };
}
