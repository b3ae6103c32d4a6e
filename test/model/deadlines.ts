import { type Due, type Expired, PARTITION_TAGS } from '@yardmaster/store';
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
    lateMs: due.length === 0 ? 0 : world.now - (due[0]?.deadline as number),
    broken: [],
  };
  for (const job of due.slice(0, 100)) {
    const what = meet(world, job);
    if (what) expired[what] += 1;
  }
  return expired;
}

/** Jobs whose deadline is over: a window lasts to the end of its last millisecond (contract §8, P4: never early). */
const dueIn = (world: World, partition: string) =>
  jobsIn(world, partition)
    .filter((job): job is ModelJob & { deadline: number } => job.deadline !== null && job.deadline < world.now)
    // Of one moment, in the order of their ids, as good as any.
    .sort((a, b) => a.deadline - b.deadline || (a.id < b.id ? -1 : 1));

function meet(world: World, job: ModelJob): 'redelivered' | 'neverAcked' | 'timedOut' | 'purged' | null {
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

/** Where something may be due: by the millisecond, of which the one that is not over yet is none. */
export function due(world: World): Due {
  const { now } = world;
  const where = (dueAt: (job: ModelJob) => number | null | undefined) =>
    PARTITION_TAGS.filter((partition) => jobsIn(world, partition).some((job) => (dueAt(job) ?? now + 1) <= now));
  return {
    deadlines: where(({ deadline }) => deadline),
    callbacks: where(({ callback }) => (callback?.isOwed ? callback.lookAt : null)),
    faults: [],
  };
}
