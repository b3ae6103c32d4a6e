import { isTerminal, type Job, type JsonObject, type RequeueRequest } from '@yardmaster/protocol';
import { giveUp, returnToWaiting } from './attempts.js';
import { create } from './delivering.js';
import { recordEvent } from './history.js';
import { isHolder, occupies } from './keyed.js';
import { jobOf } from './reading.js';
import { timeOf } from './waiting.js';
import { forget, iso, jobFor, jobsOf, type ModelJob, type OfJob, Refusal, type World } from './world.js';

// What operators do with jobs that have ended.

/** Put a dead or killed job back in the queue, as if no attempt had been made. */
export function requeue(world: World, { job: id, caller, delaySeconds }: OfJob & RequeueRequest): void {
  const job = jobFor(world, id, caller);
  if (job.status !== 'dead' && job.status !== 'killed') throw new Refusal('JOB_NOT_DEAD', job.status);
  if (mustOccupy(world, job)) occupyAgain(world, job);
  Object.assign(job, { attemptNumber: 0, error: null, deliveryTimeouts: 0, killReason: null });
  Object.assign(job, { callback: null, startBy: null, isStarted: false, isStartSwept: false });
  job.returns += 1;
  giveUp(job, { isTakenBack: true });
  const scheduledFor = timeOf(world, { scheduledFor: null, delaySeconds });
  returnToWaiting(world, job, scheduledFor);
  recordEvent(world, job, 'requeued', scheduledFor === null ? null : { scheduledFor: iso(scheduledFor) });
}

/** Whether a job has a unique key that it occupies when it waits. The time of a key may be over. */
function mustOccupy(world: World, job: ModelJob): boolean {
  const { unique } = job.request;
  return unique !== null && (unique.until !== 'expired' || (!job.isUniqueFreed && occupies(world, job)));
}

function occupyAgain(world: World, job: ModelJob): void {
  const holder = jobsOf(world, job.spaceId).find((other) => other !== job && isHolder(other, job.request));
  if (holder && occupies(world, holder)) throw new Refusal('JOB_NOT_UNIQUE', holder.status);
  if (holder) holder.isUniqueFreed = true;
  job.isUniqueFreed = false;
}

/** @param copyId chosen by the store; it cannot be predicted */
export function copy(
  world: World,
  { job: id, caller, payload, copyId }: OfJob & { payload?: JsonObject | null | undefined; copyId: string },
): Job {
  const { spaceId, request: of, priority } = jobFor(world, id, caller);
  const now = { unique: null, scheduledFor: null, delaySeconds: null };
  const request = { ...of, ...now, priority, payload: payload === undefined ? of.payload : payload };
  create(world, { id: copyId, space: spaceId, request });
  const made = world.jobs.get(copyId) as ModelJob;
  made.copyOf = id;
  return jobOf(made);
}

/** Remove an ended job and its pending callback. */
export function remove(world: World, { job: id, caller }: OfJob): void {
  const job = jobFor(world, id, caller);
  if (!isTerminal(job.status)) throw new Refusal('JOB_NOT_ENDED', job.status);
  forget(world, job);
}
