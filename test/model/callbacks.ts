import type { JsonValue } from '@yardmaster/protocol';
import type { CallbackAttempt, CallbackOutcome, NoAttempt, Relayed } from '@yardmaster/store';
import { happen } from './happening.js';
import { iso, jobFor, jobsIn, type ModelCallback, type ModelJob, type OfJob, Refusal, type World } from './world.js';

// Contract §7, and the life of a callback in packages/store/src/callbacks/outbox.ts.

const AGAIN_MS = 4_000;
const AGAIN_AT_MOST_MS = 300_000;
const LEASE_MS = 15_000;
const PATIENCE_MS = 2_000;

type Owing = ModelJob & { callback: ModelCallback };

const owes = (job: ModelJob | undefined): job is Owing => job?.callback?.isOwed === true;

export function relay(world: World, { partition }: { partition: string }): Relayed {
  const due = jobsIn(world, partition)
    .filter(owes)
    .filter(({ callback }) => callback.lookAt <= world.now)
    .sort((a, b) => a.callback.lookAt - b.callback.lookAt || (a.id < b.id ? -1 : 1))
    .slice(0, 100);
  const relayed: Relayed = { isMore: due.length === 100, callbacks: [], overdue: [] };
  for (const { id, callback, request } of due) {
    const waited = world.now - callback.dueSince;
    callback.lookAt = world.now + Math.min(Math.max(waited, AGAIN_MS), AGAIN_AT_MOST_MS);
    relayed[waited < AGAIN_MS ? 'callbacks' : 'overdue'].push({
      jobId: id,
      series: callback.series,
      url: request.callbackUrl as string,
    });
  }
  return relayed;
}

export function begin(world: World, { job: id, series }: { job: string; series: number }): CallbackAttempt | NoAttempt {
  const { now } = world;
  const job = world.jobs.get(id);
  if (!owes(job) || job.callback.series !== series) return { waitMs: null };
  const { callback, request } = job;
  const { leasedUntil, dueAt } = callback;
  if (leasedUntil !== null && leasedUntil > now) return { waitMs: Math.min(leasedUntil - now, PATIENCE_MS) };
  if (dueAt !== null && dueAt > now) return { waitMs: dueAt - now };
  callback.leasedUntil = now + LEASE_MS;
  callback.lookAt = now + LEASE_MS;
  return {
    jobId: id,
    spaceId: job.spaceId,
    name: request.name,
    status: job.status,
    attemptNumber: job.attemptNumber,
    result: JSON.stringify(job.status === 'dead' ? { error: job.error } : job.result),
    endedAt: iso(job.updatedAt),
    url: request.callbackUrl as string,
    headers: request.callbackHeaders ?? {},
    attempt: callback.attempts + 1,
    lease: String(callback.leasedUntil),
    nowMs: now,
  };
}

export type Outcome = CallbackOutcome & { job: string; series: number; lease: string; retryMs: number | null };

/** @returns whether it counted: only what the holder of the latest lease says does, and once */
export function record(world: World, { job: id, series, lease, type, data, retryMs }: Outcome): boolean {
  const { now } = world;
  const job = world.jobs.get(id);
  if (!owes(job) || String(job.callback.leasedUntil) !== lease) return false;
  const { callback } = job;
  if (callback.series !== series) {
    callback.lookAt = now; // A redelivery was asked for while it was made, and is still to come.
  } else if (retryMs === null) {
    callback.isOwed = false;
  } else {
    callback.dueAt = now + retryMs;
    callback.dueSince = callback.dueAt;
    callback.lookAt = callback.dueAt + AGAIN_MS;
  }
  callback.attempts += 1;
  callback.leasedUntil = null;
  happen(world, job, type, data as JsonValue);
  return true;
}

/** Statuses by which a receiver says that a later attempt may fare better; so does every 5xx. */
const PASSING = [408, 425, 429];
const REFUSED_ADDRESS = 'address is not public';

/**
 * Decide whether an attempt must be followed by another one (contract §7): after every network error, but not when the
 * address was refused.
 *
 * @param left delays that are left
 */
export function mustRetry({ type, data }: CallbackOutcome, left: number): boolean {
  if (left === 0) return false;
  return type === 'callback_failed'
    ? data.error !== REFUSED_ADDRESS
    : data.statusCode >= 500 || PASSING.includes(data.statusCode);
}

export function redeliver(world: World, { job: id, caller }: OfJob): void {
  const job = jobFor(world, id, caller);
  const { now } = world;
  const { status, callback } = job;
  if (status === 'pending' || status === 'delivered' || status === 'running')
    throw new Refusal('JOB_NOT_ENDED', status);
  if (!callback) throw new Refusal('NO_CALLBACK', status);
  const isBeingMade = callback.leasedUntil !== null && callback.leasedUntil > now;
  // One that is not is lost: whatever is still heard of it is not the outcome of what was asked for now.
  if (!isBeingMade) callback.leasedUntil = null;
  callback.series = callback.attempts + (isBeingMade ? 1 : 0);
  callback.isOwed = true;
  callback.dueAt = now;
  callback.dueSince = now;
  callback.lookAt = now;
}
