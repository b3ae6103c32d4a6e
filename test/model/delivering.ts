import type { ClaimedJob, ClaimOutcome, CreateJobRequest, Job } from '@yardmaster/protocol';
import { recordEvent } from './history.js';
import { isPaused } from './pauses.js';
import { jobOf } from './reading.js';
import { queueOf, scoreOf, timeOf, wait } from './waiting.js';
import { completed, iso, jobFor, type ModelJob, nextOrder, type OfJob, timeOfOrder, type World } from './world.js';

// (none) → pending → delivered, and (none) → scheduled.

/** @param id chosen by the store; it cannot be predicted */
export function create(
  world: World,
  { id, space, request }: { id: string; space: string; request: CreateJobRequest },
): Job {
  const order = nextOrder(world, space);
  const at = timeOfOrder(order);
  const job: ModelJob = {
    id,
    spaceId: space,
    request: completed(request),
    firstRequest: completed(request),
    idempotencyKey: null,
    copyOf: null,
    isUniqueFreed: false,
    status: 'pending',
    priority: request.priority,
    ...{ scheduledFor: null, startBy: null, isStarted: false, isStartSwept: false, runBy: null },
    attemptNumber: 0,
    deliveryTimeouts: 0,
    returns: 0,
    deliveries: [],
    deliveredAt: null,
    startedAt: null,
    ...{ createdAt: at, updatedAt: at },
    result: null,
    error: null,
    progress: null,
    checkpoint: null,
    events: [],
    logs: [],
    logSeq: 0,
    deadline: null,
    callback: null,
    killReason: null,
    ...{ createdOrder: order, claimOrder: order },
  };
  world.jobs.set(id, job);
  wait(world, job, timeOf(world, request), order);
  recordEvent(world, job, 'created');
  return jobOf(job);
}

export function poll(
  world: World,
  { space, count, names }: { space: string; count: number; names: string[] },
): ClaimedJob[] {
  const rankOf = ({ request }: ModelJob) => names.indexOf(request.name);
  return (
    queueOf(world, space)
      .filter((job) => !isPaused(world, job))
      .filter((job) => names.length === 0 || names.includes(job.request.name))
      // Jobs at the same place are in the order of the names that were asked for; any order would do.
      .sort((a, b) => scoreOf(a) - scoreOf(b) || rankOf(a) - rankOf(b))
      .slice(0, count)
      .map((job) => deliver(world, job))
  );
}

export function claim(world: World, { job: id, caller }: OfJob): ClaimOutcome {
  const job = jobFor(world, id, caller);
  if (job.status !== 'pending') return { claimed: false, reason: 'not_pending', status: job.status };
  if (isPaused(world, job)) return { claimed: false, reason: 'paused', status: 'pending' };
  return { claimed: true, job: deliver(world, job) };
}

function deliver(world: World, job: ModelJob): ClaimedJob {
  job.status = 'delivered';
  job.isStartSwept = false;
  job.deliveredAt = world.now;
  job.updatedAt = world.now;
  job.deadline = world.now + world.settings.deliveryTimeoutMs;
  recordEvent(world, job, 'delivered');
  const { id, attemptNumber, checkpoint, request } = job;
  const { name, payload, timeoutSeconds, maxRetries } = request;
  const attempt = attemptNumber + 1;
  const deliveryToken = `${attemptNumber}.${job.returns}.${job.createdOrder.toString(36)}`;
  job.deliveries.push({ token: deliveryToken, isGivenUp: false });
  const counts = { timeoutSeconds, maxRetries, attemptNumber };
  return { id, name, payload, ...counts, createdAt: iso(job.createdAt), checkpoint, attempt, deliveryToken };
}
