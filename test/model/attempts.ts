import type { JsonObject, JsonValue, Status } from '@yardmaster/protocol';
import type { Heartbeat } from '@yardmaster/store';
import { recordEvent } from './history.js';
import { changesNothing } from './tokens.js';
import { jobFor, type ModelJob, nextPlace, type OfJob, Refusal, type World } from './world.js';

/** A call of a worker, with the delivery token that it sends, if any. */
export type OfWorker = OfJob & { token?: string | null };

// Spec §3: delivered → running → completed, pending again, or dead; and killed from every status that is not terminal.

export function ack(world: World, { job: id, caller, token }: OfWorker): void {
  const job = jobFor(world, id, caller);
  if (changesNothing(job, 'ack', token)) return;
  if (job.status !== 'delivered') throw new Refusal('JOB_NOT_DELIVERED', job.status);
  job.attemptNumber += 1;
  job.deliveryTimeouts = 0;
  job.startedAt = world.now;
  if (job.request.unique?.until === 'started') job.isUniqueFreed = true;
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
  if (beat.kind === 'progress') job.progress = { data: beat.data, at: world.now };
  if (beat.kind === 'checkpoint') job.checkpoint = beat.data;
  recordEvent(world, job, beat.kind, beat.data as JsonValue);
}

export function complete(world: World, { job: id, caller, token, result }: OfWorker & { result: JsonValue }): void {
  const job = jobFor(world, id, caller);
  if (changesNothing(job, 'complete', token)) return;
  expectRunning(job);
  job.result = result;
  end(world, job, 'completed');
  recordEvent(world, job, 'completed', result);
}

export function fail(world: World, { job: id, caller, token, error }: OfWorker & { error: string | JsonObject }): void {
  const job = jobFor(world, id, caller);
  if (changesNothing(job, 'fail', token)) return;
  expectRunning(job);
  failAttempt(world, job, error);
}

/** Contract-2 §1: the job is pending at its place by creation, and an attempt that had started is not counted. */
export function release(world: World, { job: id, caller, token, reason }: OfWorker & { reason: string | null }): void {
  const job = jobFor(world, id, caller);
  if (changesNothing(job, 'release', token)) return;
  if (job.status === 'killed') throw new Refusal('JOB_KILLED', 'killed');
  if (job.status !== 'delivered') expectRunning(job);
  if (job.status === 'running') job.attemptNumber -= 1;
  takeBack(world, job);
  recordEvent(world, job, 'released', { reason });
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
    job.error = error;
    job.queuePlace = nextPlace(world, job.spaceId);
    returnToQueue(world, job);
    recordEvent(world, job, 'retried', { error, attemptNumber });
  } else die(world, job, error);
}

export function die(world: World, job: ModelJob, error: string | JsonObject): void {
  giveUp(job);
  job.error = error;
  end(world, job, 'dead');
  recordEvent(world, job, 'dead', { error });
}

/** Take a job back from its worker, before an attempt of it has failed: it is pending at its place by creation. */
export function takeBack(world: World, job: ModelJob): void {
  job.takeBacks += 1;
  job.queuePlace = job.createdPlace;
  returnToQueue(world, job);
}

/** Set a job back to pending, as if it had not been delivered. The caller sets its place in the queue. */
function returnToQueue(world: World, job: ModelJob): void {
  giveUp(job);
  job.deliveredAt = null;
  job.startedAt = null;
  job.deadline = null;
  move(world, job, 'pending');
}

function giveUp({ deliveries }: ModelJob): void {
  const last = deliveries.at(-1);
  if (last !== undefined) last.isGivenUp = true;
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
