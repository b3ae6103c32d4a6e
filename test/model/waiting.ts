import type { RescheduleRequest } from '@yardmaster/protocol';
import { recordEvent } from './history.js';
import {
  iso,
  jobFor,
  jobsOf,
  type ModelJob,
  nextOrder,
  type OfJob,
  ORDERS_PER_SECOND,
  Refusal,
  type World,
} from './world.js';

// Jobs that wait are pending, or scheduled for a time in the future.

/** Convert seconds of a request: whole milliseconds, rounded up so that nothing happens early. */
export const msOf = (seconds: number) => Math.ceil(seconds * 1_000);

type StartTime = Pick<RescheduleRequest, 'scheduledFor' | 'delaySeconds'>;

/** Return the time that a request asks for; null when it is not in the future. */
export function timeOf({ now }: World, { scheduledFor, delaySeconds }: StartTime): number | null {
  const at = scheduledFor ?? (delaySeconds === null ? now : now + msOf(delaySeconds));
  return at > now ? at : null;
}

/** Make a job scheduled, or claimable. @param claimOrder its place in the queue; left out for the end */
export function wait(world: World, job: ModelJob, scheduledFor: number | null, claimOrder?: number): void {
  if (scheduledFor !== null) {
    job.status = 'scheduled';
    job.scheduledFor = scheduledFor;
    return;
  }
  const { startWithinSeconds } = job.request;
  job.status = 'pending';
  job.claimOrder = claimOrder ?? nextOrder(world, job.spaceId);
  if (startWithinSeconds !== null && !job.isStarted) job.startBy ??= world.now + msOf(startWithinSeconds);
}

/** Return until when a job must be acked for the first time; null for no limit. */
export const startLimitOf = ({ startBy, isStarted }: ModelJob) => (isStarted ? null : startBy);

/** Return when a sweep must look at a waiting job, or a delivered one with a start limit; null for never. */
export function promoteAt(job: ModelJob): number | null {
  const limit = startLimitOf(job);
  if (job.status === 'scheduled') return Math.min(job.scheduledFor as number, limit ?? Number.POSITIVE_INFINITY);
  return job.status === 'pending' || (job.status === 'delivered' && !job.isStartSwept) ? limit : null;
}

/** Make a scheduled job claimable whose time has come. @param fraction see nextOrder */
export function makeReady(world: World, job: ModelJob, fraction = 0): void {
  wait(world, job, null, nextOrder(world, job.spaceId, fraction));
  job.updatedAt = world.now;
  recordEvent(world, job, 'ready');
}

/** Give a waiting job another time, or put it at the end of the queue. Its start limit restarts. */
export function reschedule(world: World, { job: id, caller, ...request }: OfJob & RescheduleRequest): void {
  const job = jobFor(world, id, caller);
  if (job.status !== 'scheduled' && job.status !== 'pending') throw new Refusal('JOB_NOT_PENDING', job.status);
  const { priority } = request;
  if (priority !== null) job.priority = priority;
  job.startBy = null;
  const scheduledFor = timeOf(world, request);
  job.scheduledFor = scheduledFor;
  wait(world, job, scheduledFor);
  job.updatedAt = world.now;
  recordEvent(world, job, 'rescheduled', {
    scheduledFor: scheduledFor === null ? null : iso(scheduledFor),
    ...(priority === null ? {} : { priority }),
  });
}

/** Place in the queue: as if the job had been queued earlier by its head start. */
export const scoreOf = ({ claimOrder, priority }: ModelJob) => claimOrder - priority * ORDERS_PER_SECOND;

/** List the pending jobs of a space in the order in which they are claimed. */
export const queueOf = (world: World, space: string) =>
  jobsOf(world, space)
    .filter((job) => job.status === 'pending')
    // Jobs at the same place are in the order of their ids; any order would do.
    .sort((a, b) => scoreOf(a) - scoreOf(b) || (a.id < b.id ? -1 : 1));
