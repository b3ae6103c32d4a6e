import { type Due, type Expired, PARTITION_TAGS, type Promoted, partitionOf } from '@yardmaster/store';
import { die, failAttempt, failStart, isStartOver, openWindow, retryDelayMs, returnJob, startRun } from './attempts.js';
import { recordEvent } from './history.js';
import { makeReady, msOf, promoteAt, startLimitOf } from './waiting.js';
import { forget, jobsIn, type ModelJob, steppedAt, type World } from './world.js';

/** How long to wait before purging a job again whose callback is pending. */
const PURGE_RETRY_MS = 60_000;

/** Expire what is due in a partition, oldest deadline first, and purge ended jobs. */
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
  for (const [i, job] of due.slice(0, 100).entries()) {
    const lagMs = world.now - job.deadline;
    const outcome = expireOne(world, job, i + 1);
    if (outcome) expired[outcome] += 1;
    if (outcome !== 'reopened') lagsMs.push(lagMs);
  }
  return { ...expired, lagMs: lagsMs[0] ?? 0 };
}

/** Jobs whose deadline has passed: a window lasts to the end of its last millisecond. */
const dueIn = (world: World, partition: string) =>
  jobsIn(world, partition)
    .filter((job): job is ModelJob & { deadline: number } => job.deadline !== null && job.deadline < world.now)
    // Jobs of the same millisecond are in the order of their ids; any order would do.
    .sort((a, b) => a.deadline - b.deadline || (a.id < b.id ? -1 : 1));

/** Jobs of one step draw numbers that are spread evenly. */
const GOLDEN_RATIO = 0.6180339887498949;

/** @param n number of the job in this step, from 1 */
function expireOne(
  world: World,
  job: ModelJob & { deadline: number },
  n: number,
): 'redelivered' | 'neverAcked' | 'timedOut' | 'purged' | 'reopened' | null {
  const windowMs = windowOf(world, job);
  const limitMs = isRunOver(job) ? msOf(job.request.maxRunSeconds as number) : windowMs;
  if (limitMs !== null && job.deadline - limitMs < steppedAt(world, partitionOf(job.spaceId))) {
    reopen(world, job, windowMs as number);
    return 'reopened';
  }
  if (job.status === 'delivered') {
    if (isStartOver(world, job)) {
      failStart(world, job);
      return 'neverAcked';
    }
    const { maxDeliveries } = world.settings;
    job.deliveryTimeouts += 1;
    if (job.deliveryTimeouts >= maxDeliveries) {
      die(world, job, `Job was delivered ${maxDeliveries} times and never acknowledged`);
      return 'neverAcked';
    }
    returnJob(world, job);
    recordEvent(world, job, 'delivery_timeout');
    return 'redelivered';
  }
  if (job.status === 'running') {
    timeout(world, job, retryDelayMs(job, (world.random + n * GOLDEN_RATIO) % 1));
    return 'timedOut';
  }
  if (job.callback?.isPending) {
    job.deadline = world.now + PURGE_RETRY_MS;
    return null;
  }
  forget(world, job);
  return 'purged';
}

/** Whether the deadline of a running job is the time limit of its attempt. */
const isRunOver = ({ status, deadline, runBy }: ModelJob) =>
  status === 'running' && runBy !== null && (deadline as number) >= runBy;

/** End an attempt whose worker was silent for too long, or took too long. @param delayMs until the next attempt */
export function timeout(world: World, job: ModelJob, delayMs: number): void {
  const { timeoutSeconds, maxRunSeconds } = job.request;
  const error = isRunOver(job)
    ? `Job ran longer than ${maxRunSeconds} seconds`
    : `Job timed out after ${timeoutSeconds} seconds without a heartbeat`;
  failAttempt(world, job, error, delayMs);
}

/** The window of a delivered or running job, in milliseconds; null for any other status. */
function windowOf({ settings }: World, { status, request }: ModelJob): number | null {
  if (status === 'delivered') return settings.deliveryTimeoutMs;
  return status === 'running' ? msOf(request.timeoutSeconds) : null;
}

/** Give a delivered or running job another window, and a time limit that is over restarts. */
function reopen(world: World, job: ModelJob, windowMs: number): void {
  if (isRunOver(job)) startRun(world, job);
  if (job.status === 'running') openWindow(world, job);
  else job.deadline = world.now + windowMs;
}

/**
 * Make the scheduled jobs of a partition claimable whose time has come, the earliest first, and those dead that are past
 * their start limit. Times last to the end of their millisecond, as windows do.
 */
export function promote(world: World, { partition }: { partition: string }): Promoted {
  const due = jobsIn(world, partition)
    .flatMap((job) => {
      const at = promoteAt(job);
      return at !== null && at < world.now ? [{ job, at }] : [];
    })
    .sort((a, b) => a.at - b.at || (a.job.id < b.job.id ? -1 : 1))
    .slice(0, 50);
  const outcomes = due.map(({ job, at }, i) => ({ at, outcome: promoteOne(world, job, i + 1) }));
  const count = (wanted: 'ready' | 'notStarted') => outcomes.filter(({ outcome }) => outcome === wanted).length;
  const first = outcomes.find(({ outcome }) => outcome !== null);
  return {
    isMore: due.length === 50,
    ready: count('ready'),
    notStarted: count('notStarted'),
    lagMs: first ? world.now - first.at : 0,
    broken: [],
  };
}

/** @param n number of the job in this step, from 1, in whose order jobs get into the queue */
function promoteOne(world: World, job: ModelJob, n: number): 'ready' | 'notStarted' | null {
  if (isStartOver(world, job)) {
    if (job.status !== 'delivered') {
      failStart(world, job);
      return 'notStarted';
    }
    job.isStartSwept = true; // Its worker may still ack it.
  } else if ((startLimitOf(job) ?? world.now) < world.now) {
    job.startBy = world.now + msOf(job.request.startWithinSeconds as number); // A step of the clock has cut it short.
  }
  if (job.status !== 'scheduled' || (job.scheduledFor as number) >= world.now) return null;
  makeReady(world, job, n);
  return 'ready';
}

// A delivered or running job whose worker last called before a step gets one more window:
// after a step forward when it is due, after a step back at once.

/** Record that a scheduler noticed a step forward. @returns whether it is the first to notice it */
export function markStep(world: World, { partition, lookedAt }: { partition: string; lookedAt: number }): boolean {
  if (steppedAt(world, partition) > lookedAt) return false;
  world.stepped.set(partition, world.now);
  return true;
}

/** Open windows again after a step back. @returns how many jobs had a last call of the worker in the future */
export function reopenWindows(world: World, { partition }: { partition: string }): number {
  let count = 0;
  for (const job of jobsIn(world, partition)) {
    const windowMs = windowOf(world, job);
    if (windowMs === null) continue;
    const latestRunBy = world.now + msOf(job.request.maxRunSeconds ?? 0);
    const isRunAhead = job.status === 'running' && job.runBy !== null && job.runBy > latestRunBy;
    if ((job.deadline as number) - windowMs <= world.now && !isRunAhead) continue;
    // Its window may have been longer, by another setting; or it was opened again after a step that is undone now.
    const isUndone = (world.stepped.get(partition) ?? 0) > world.now;
    if (job.status === 'delivered' && (job.deliveredAt as number) <= world.now && !isUndone) continue;
    if (isRunAhead) job.runBy = latestRunBy;
    reopen(world, job, windowMs);
    count++;
  }
  return count;
}

/** List the partitions in which something may be due, to the millisecond. */
export function due(world: World): Omit<Due, 'clocks' | 'recounts'> {
  const { now } = world;
  const partitionsWith = (dueAt: (job: ModelJob) => number | null | undefined) =>
    PARTITION_TAGS.filter((partition) => jobsIn(world, partition).some((job) => (dueAt(job) ?? now + 1) <= now));
  return {
    deadlines: partitionsWith(({ deadline }) => deadline),
    promotions: partitionsWith(promoteAt),
    schedules: [],
    operations: [],
    callbacks: partitionsWith(({ callback }) => (callback?.isPending ? callback.relayAt : null)),
    pauses: PARTITION_TAGS.filter((partition) =>
      [...world.tendAt].some(([space, at]) => partitionOf(space) === partition && at <= now),
    ),
    faults: [],
  };
}
