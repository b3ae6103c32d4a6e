import type { ClaimedJob, ClaimOutcome, CreateJobRequest, Job } from '@yardmaster/protocol';
import { recordEvent } from './history.js';
import { jobOf } from './reading.js';
import { iso, jobFor, jobsOf, type ModelJob, nextPlace, type OfJob, type World } from './world.js';

// Spec §3: (none) → pending → delivered.

/** @param id chosen by the store; it cannot be predicted */
export function create(
  world: World,
  { id, space, request }: { id: string; space: string; request: CreateJobRequest },
): Job {
  const born = nextPlace(world, space);
  const job: ModelJob = {
    id,
    spaceId: space,
    request,
    firstRequest: request,
    idempotencyKey: null,
    isUniqueFreed: false,
    status: 'pending',
    attemptNumber: 0,
    deliveryTimeouts: 0,
    takeBacks: 0,
    deliveries: [],
    deliveredAt: null,
    startedAt: null,
    createdAt: born.at,
    updatedAt: born.at,
    result: null,
    error: null,
    progress: null,
    checkpoint: null,
    events: [],
    logs: [],
    logSeq: 0,
    deadline: null,
    callback: null,
    createdPlace: born,
    queuePlace: born,
  };
  world.jobs.set(id, job);
  recordEvent(world, job, 'created');
  return jobOf(job);
}

export const queueOf = (world: World, space: string) =>
  jobsOf(world, space)
    .filter((job) => job.status === 'pending')
    .sort((a, b) => a.queuePlace.ordinal - b.queuePlace.ordinal);

export function poll(
  world: World,
  { space, count, names }: { space: string; count: number; names: string[] },
): ClaimedJob[] {
  return queueOf(world, space)
    .filter((job) => names.length === 0 || names.includes(job.request.name))
    .slice(0, count)
    .map((job) => deliver(world, job));
}

export function claim(world: World, { job: id, caller }: OfJob): ClaimOutcome {
  const job = jobFor(world, id, caller);
  if (job.status !== 'pending') return { claimed: false, reason: 'not_pending', status: job.status };
  return { claimed: true, job: deliver(world, job) };
}

function deliver(world: World, job: ModelJob): ClaimedJob {
  job.status = 'delivered';
  job.deliveredAt = world.now;
  job.updatedAt = world.now;
  job.deadline = world.now + world.settings.deliveryTimeoutMs;
  recordEvent(world, job, 'delivered');
  const { id, attemptNumber, checkpoint, request } = job;
  const { name, payload, timeoutSeconds, maxRetries } = request;
  const attempt = attemptNumber + 1;
  const deliveryToken = `${attemptNumber}.${job.takeBacks}`;
  job.deliveries.push({ token: deliveryToken, isGivenUp: false });
  const counts = { timeoutSeconds, maxRetries, attemptNumber };
  return { id, name, payload, ...counts, createdAt: iso(job.createdAt), checkpoint, attempt, deliveryToken };
}
