import { isTerminal, type JsonValue } from '@yardmaster/protocol';
import type { CallbackAttempt, CallbackOutcome, NoAttempt, Relayed } from '@yardmaster/store';
import { recordEvent } from './history.js';
import { iso, jobFor, jobsIn, type ModelCallback, type ModelJob, type OfJob, Refusal, type World } from './world.js';

// See the states of a callback in packages/store/src/callbacks/outbox.ts.

const RELAY_AGAIN_MS = 4_000;
const RELAY_AGAIN_AT_MOST_MS = 300_000;
const LEASE_MS = 15_000;
const LONGEST_WAIT_MS = 2_000;

type JobWithPendingCallback = ModelJob & { callback: ModelCallback };

const hasPendingCallback = (job: ModelJob | undefined): job is JobWithPendingCallback =>
  job?.callback?.isPending === true;

export function relay(world: World, { partition }: { partition: string }): Relayed {
  const due = jobsIn(world, partition)
    .filter(hasPendingCallback)
    .filter(({ callback }) => callback.relayAt <= world.now)
    .sort((a, b) => a.callback.relayAt - b.callback.relayAt || (a.id < b.id ? -1 : 1))
    .slice(0, 100);
  const relayed: Relayed = { isMore: due.length === 100, callbacks: [], overdue: [] };
  for (const { id, callback, request } of due) {
    const waited = world.now - callback.dueSince;
    callback.relayAt = world.now + Math.min(Math.max(waited, RELAY_AGAIN_MS), RELAY_AGAIN_AT_MOST_MS);
    relayed[waited < RELAY_AGAIN_MS ? 'callbacks' : 'overdue'].push({
      jobId: id,
      series: callback.series,
      url: request.callbackUrl as string,
    });
  }
  return relayed;
}

/** @param order order score of the job, chosen by the store: it has the time of creation, and is not predicted further */
export function begin(
  world: World,
  { job: id, series, order = '' }: { job: string; series: number; order?: string | undefined },
): CallbackAttempt | NoAttempt {
  const { now } = world;
  const job = world.jobs.get(id);
  if (!hasPendingCallback(job) || job.callback.series !== series) return { waitMs: null };
  const { callback, request } = job;
  const { leasedUntil, dueAt } = callback;
  if (leasedUntil !== null && leasedUntil > now) return { waitMs: Math.min(leasedUntil - now, LONGEST_WAIT_MS) };
  if (dueAt !== null && dueAt > now) return { waitMs: dueAt - now };
  callback.leasedUntil = now + LEASE_MS;
  callback.relayAt = now + LEASE_MS;
  return {
    jobId: id,
    spaceId: job.spaceId,
    name: request.name,
    status: job.status,
    attemptNumber: job.attemptNumber,
    result: JSON.stringify(resultOf(job)),
    endedAt: iso(job.updatedAt),
    order: Math.floor(Number(order) / 1_024) === job.createdAt ? order : `of ${job.createdAt}`,
    url: request.callbackUrl as string,
    headers: request.callbackHeaders ?? {},
    attempt: callback.attempts + 1,
    lease: String(callback.leasedUntil),
    nowMs: now,
  };
}

function resultOf({ status, result, error, killReason }: ModelJob): JsonValue {
  if (status === 'killed') return { reason: killReason };
  return status === 'dead' ? { error } : result;
}

export type Outcome = CallbackOutcome & { job: string; series: number; lease: string; retryMs: number | null };

/** @returns whether the outcome counted: only that of the latest lease does, and only once */
export function record(world: World, { job: id, series, lease, type, data, retryMs }: Outcome): boolean {
  const { now } = world;
  const job = world.jobs.get(id);
  if (!hasPendingCallback(job) || String(job.callback.leasedUntil) !== lease) return false;
  const { callback } = job;
  if (callback.series !== series) {
    callback.relayAt = now; // A redelivery was requested during the attempt, and is still pending.
  } else if (retryMs === null) {
    callback.isPending = false;
  } else {
    callback.dueAt = now + retryMs;
    callback.dueSince = callback.dueAt;
    callback.relayAt = callback.dueAt + RELAY_AGAIN_MS;
  }
  callback.attempts += 1;
  callback.leasedUntil = null;
  recordEvent(world, job, type, data as JsonValue);
  return true;
}

/** Statuses after which a later attempt may succeed, in addition to every 5xx. */
const TEMPORARY_STATUSES = [408, 425, 429];
const REFUSED_ADDRESS = 'address is not public';

/**
 * Decide whether another attempt must follow: after every network error, except a refused address.
 *
 * @param left number of delays that are left
 */
export function mustRetry({ type, data }: CallbackOutcome, left: number): boolean {
  if (left === 0) return false;
  return type === 'callback_failed'
    ? data.error !== REFUSED_ADDRESS
    : data.statusCode >= 500 || TEMPORARY_STATUSES.includes(data.statusCode);
}

export function redeliver(world: World, { job: id, caller }: OfJob): void {
  const job = jobFor(world, id, caller);
  const { now } = world;
  const { status, callback } = job;
  if (!isTerminal(status)) throw new Refusal('JOB_NOT_ENDED', status);
  if (!callback) throw new Refusal('NO_CALLBACK', status);
  const isInProgress = callback.leasedUntil !== null && callback.leasedUntil > now;
  // An attempt whose lease has ended is lost: a late outcome of it does not count for the new series.
  if (!isInProgress) callback.leasedUntil = null;
  callback.series = callback.attempts + (isInProgress ? 1 : 0);
  callback.isPending = true;
  callback.dueAt = now;
  callback.dueSince = now;
  callback.relayAt = now;
}
