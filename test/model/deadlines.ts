import { type Due, type Expired, PARTITION_TAGS, partitionOf } from '@yardmaster/store';
import { die, failAttempt, takeBack } from './attempts.js';
import { recordEvent } from './history.js';
import { jobsIn, jobsOf, type ModelJob, type World } from './world.js';

/** How long to wait before purging a job again whose callback is pending. */
const PURGE_RETRY_MS = 60_000;

/** Expire what is due in a partition, oldest deadline first (spec §3, "delivery time-out" and rule 6), and purge ended jobs. */
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
  const lagsMs: number[] = [];
  for (const job of due.slice(0, 100)) {
    const lagMs = world.now - job.deadline;
    const outcome = expireOne(world, job);
    if (outcome) expired[outcome] += 1;
    if (outcome !== 'reopened') lagsMs.push(lagMs);
  }
  return { ...expired, lagMs: lagsMs[0] ?? 0 };
}

/** Jobs whose deadline has passed: a window lasts to the end of its last millisecond (contract §8, P4: never early). */
const dueIn = (world: World, partition: string) =>
  jobsIn(world, partition)
    .filter((job): job is ModelJob & { deadline: number } => job.deadline !== null && job.deadline < world.now)
    // Jobs of the same millisecond are in the order of their ids; any order would do.
    .sort((a, b) => a.deadline - b.deadline || (a.id < b.id ? -1 : 1));

function expireOne(
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
    takeBack(world, job);
    recordEvent(world, job, 'delivery_timeout');
    return 'redelivered';
  }
  if (job.status === 'running') {
    failAttempt(world, job, `Job timed out after ${job.request.timeoutSeconds} seconds without a heartbeat`);
    return 'timedOut';
  }
  if (job.callback?.isPending) {
    job.deadline = world.now + PURGE_RETRY_MS;
    return null;
  }
  world.jobs.delete(job.id);
  if (jobsOf(world, job.spaceId).length === 0) world.last.delete(job.spaceId);
  return 'purged';
}

/** The window of a delivered or running job, in milliseconds; null for any other status. */
function windowOf({ settings }: World, { status, request }: ModelJob): number | null {
  if (status === 'delivered') return settings.deliveryTimeoutMs;
  return status === 'running' ? Math.ceil(request.timeoutSeconds * 1_000) : null;
}

// Contract 2 §6, "Clock steps": a delivered or running job whose worker last called before a step gets one more window:
// after a step forward when it is due, after a step back at once.

/** When the clock last stepped forward. A time in the future is from before a step back, and is ignored. */
function steppedAt({ now, stepped }: World, partition: string): number {
  const at = stepped.get(partition) ?? 0;
  return at <= now ? at : 0;
}

/** Record that a scheduler noticed a step forward. @returns whether it is the first to notice it */
export function markStep(world: World, { partition, lookedAt }: { partition: string; lookedAt: number }): boolean {
  if (steppedAt(world, partition) > lookedAt) return false;
  world.stepped.set(partition, world.now);
  return true;
}

/** Open windows again after a step back. @returns how many jobs had a last call of the worker in the future */
export function restoreDeadlines(world: World, { partition }: { partition: string }): number {
  let count = 0;
  for (const job of jobsIn(world, partition)) {
    const windowMs = windowOf(world, job);
    if (windowMs === null || (job.deadline as number) - windowMs <= world.now) continue;
    job.deadline = world.now + windowMs;
    count++;
  }
  return count;
}

/** List the partitions in which something may be due, to the millisecond. */
export function due(world: World): Omit<Due, 'clocks'> {
  const { now } = world;
  const partitionsWith = (dueAt: (job: ModelJob) => number | null | undefined) =>
    PARTITION_TAGS.filter((partition) => jobsIn(world, partition).some((job) => (dueAt(job) ?? now + 1) <= now));
  return {
    deadlines: partitionsWith(({ deadline }) => deadline),
    promotions: [],
    callbacks: partitionsWith(({ callback }) => (callback?.isPending ? callback.relayAt : null)),
    faults: [],
  };
}
