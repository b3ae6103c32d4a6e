import { type Due, type Expired, PARTITION_TAGS, partitionOf } from '@yardmaster/store';
import { die, failAttempt, takeBack } from './attempts.js';
import { happen } from './happening.js';
import { jobsIn, jobsOf, type ModelJob, type World } from './world.js';

/** How long a job whose callback is owed is kept before its purge is tried again. */
const PURGE_AGAIN_MS = 60_000;

/** Do what is due in a partition, the oldest deadline first: spec §3, "delivery time-out" and rule 6; purge of what has ended. */
export function expire(world: World, { partition }: { partition: string }): Expired {
  const due = dueIn(world, partition);
  const expired: Expired = {
    isMore: due.length >= 100,
    redelivered: 0,
    neverAcked: 0,
    timedOut: 0,
    purged: 0,
    reopened: 0,
    lagMs: 0,
    broken: [],
  };
  const late: number[] = [];
  for (const job of due.slice(0, 100)) {
    const lateMs = world.now - job.deadline;
    const what = meet(world, job);
    if (what) expired[what] += 1;
    if (what !== 'reopened') late.push(lateMs);
  }
  return { ...expired, lagMs: late[0] ?? 0 };
}

/** Jobs whose deadline is over: a window lasts to the end of its last millisecond (contract §8, P4: never early). */
const dueIn = (world: World, partition: string) =>
  jobsIn(world, partition)
    .filter((job): job is ModelJob & { deadline: number } => job.deadline !== null && job.deadline < world.now)
    // Of one moment, in the order of their ids, as good as any.
    .sort((a, b) => a.deadline - b.deadline || (a.id < b.id ? -1 : 1));

function meet(
  world: World,
  job: ModelJob & { deadline: number },
): 'redelivered' | 'neverAcked' | 'timedOut' | 'purged' | 'reopened' | null {
  const windowMs = windowOf(world, job);
  if (windowMs !== null && job.deadline - windowMs < steppedAt(world, partitionOf(job.spaceId))) {
    job.deadline = world.now + windowMs;
    return 'reopened';
  }
  if (job.status === 'delivered') {
    const { maxDeliveries } = world.settings;
    job.deliveryTimeouts += 1;
    if (job.deliveryTimeouts >= maxDeliveries) {
      die(world, job, `Job was delivered ${maxDeliveries} times and never acknowledged`); // Contract 2 §6.
      return 'neverAcked';
    }
    job.queued = job.born; // docs/api.md: at its place by creation.
    takeBack(world, job);
    happen(world, job, 'delivery_timeout');
    return 'redelivered';
  }
  if (job.status === 'running') {
    failAttempt(world, job, `Job timed out after ${job.request.timeoutSeconds} seconds without a heartbeat`);
    return 'timedOut';
  }
  if (job.callback?.isOwed) {
    job.deadline = world.now + PURGE_AGAIN_MS;
    return null;
  }
  world.jobs.delete(job.id);
  if (jobsOf(world, job.spaceId).length === 0) world.last.delete(job.spaceId);
  return 'purged';
}

/** How long a delivered or running job may be silent; null for one that is neither. */
function windowOf({ settings }: World, { status, request }: ModelJob): number | null {
  if (status === 'delivered') return settings.deliveryTimeoutMs;
  return status === 'running' ? Math.ceil(request.timeoutSeconds * 1_000) : null;
}

// Contract 2 §6, "Clock steps": a delivered or running job whose last sign of life is from before a step gets one more
// window of its own. After a step forward when it is due, after one back at once.

/** Of a time in the future, which is from before a step back, nothing can be said. */
function steppedAt({ now, stepped }: World, partition: string): number {
  const at = stepped.get(partition) ?? 0;
  return at <= now ? at : 0;
}

/** A scheduler notices a step forward. @returns whether it is the first */
export function markStep(world: World, { partition, lookedAt }: { partition: string; lookedAt: number }): boolean {
  if (steppedAt(world, partition) > lookedAt) return false;
  world.stepped.set(partition, world.now);
  return true;
}

/** A scheduler notices a step back. @returns jobs whose last sign of life is in the future */
export function bringBack(world: World, { partition }: { partition: string }): number {
  let count = 0;
  for (const job of jobsIn(world, partition)) {
    const windowMs = windowOf(world, job);
    if (windowMs === null || (job.deadline as number) - windowMs <= world.now) continue;
    job.deadline = world.now + windowMs;
    count++;
  }
  return count;
}

/** Where something may be due: by the millisecond, of which the one that is not over yet is none. */
export function due(world: World): Omit<Due, 'clocks'> {
  const { now } = world;
  const where = (dueAt: (job: ModelJob) => number | null | undefined) =>
    PARTITION_TAGS.filter((partition) => jobsIn(world, partition).some((job) => (dueAt(job) ?? now + 1) <= now));
  return {
    deadlines: where(({ deadline }) => deadline),
    callbacks: where(({ callback }) => (callback?.isOwed ? callback.lookAt : null)),
    faults: [],
  };
}
