import { isDeepStrictEqual } from 'node:util';
import { type CreateJobRequest, isTerminal, type Job, type Status } from '@yardmaster/protocol';
import type { Creation, ManyCreated } from '@yardmaster/store';
import { create } from './delivering.js';
import { recordEvent } from './history.js';
import { jobOf, shownOptions } from './reading.js';
import { timeOf, wait } from './waiting.js';
import { completed, iso, jobsOf, type ModelJob, Refusal, type World } from './world.js';

// Creates with an idempotency key or a unique key.

export interface KeyedCreate {
  space: string;
  request: CreateJobRequest;
  idempotencyKey: string | null;
}

/** @param id chosen by the store; it cannot be predicted */
export function createKeyed(world: World, given: KeyedCreate & { id: string }): Creation {
  const { space, request, idempotencyKey } = given;
  const known = jobsOf(world, space).find((job) => idempotencyKey !== null && job.idempotencyKey === idempotencyKey);
  if (known && !isDeepStrictEqual(plainOf(known.firstRequest), plainOf(completed(request))))
    throw new Refusal('IDEMPOTENCY_MISMATCH');
  if (known) return { outcome: 'replayed', job: replayed(known) };

  const holder = jobsOf(world, space).find((job) => isHolder(job, request));
  if (holder && occupies(world, holder)) return conflict(world, holder, request);
  if (holder) holder.isUniqueFreed = true;
  const job = create(world, given);
  (world.jobs.get(given.id) as ModelJob).idempotencyKey = idempotencyKey;
  return { outcome: 'created', job };
}

export interface ManyCreate {
  space: string;
  requests: CreateJobRequest[];
  idempotencyKey: string | null;
}

/** Key of one job of a list; that of the first is the key of the list. */
export const keyOfItem = (key: string | null, i: number) => (key === null || i === 0 ? key : `${key}\0${i}`);

/** @param ids chosen by the store, as for createKeyed */
export function createMany(world: World, given: ManyCreate & { ids: string[] }): ManyCreated {
  const { space, requests, idempotencyKey, ids } = given;
  const all = requests.map((request, i) =>
    createKeyed(world, { space, request, idempotencyKey: keyOfItem(idempotencyKey, i), id: ids[i] as string }),
  );
  return {
    jobs: all.map(({ job: { id, spaceId, name, status, createdAt } }) => ({ id, spaceId, name, status, createdAt })),
    isReplay: all.every(({ outcome }) => outcome === 'replayed'),
    replaced: all.filter(({ outcome }) => outcome === 'replaced').length,
  };
}

/** Return a request without members that are at their defaults, for a comparison. */
const plainOf = ({ retry, callbackOn, ...request }: CreateJobRequest) => ({
  ...request,
  ...shownOptions({ retry, callbackOn }),
});

/**
 * To create is not to read: a replay shows its own request, and no result, error or progress. Numbers for which a space
 * may have defaults are those of the job.
 */
function replayed(known: ModelJob): Job {
  const { maxRetries, timeoutSeconds, retry, maxRunSeconds } = known.request;
  const request = { ...known.firstRequest, maxRetries, timeoutSeconds, retry, maxRunSeconds };
  const {
    error: _,
    progress: __,
    ...job
  } = jobOf({ ...known, request }) as Job & { error?: unknown; progress?: unknown };
  return { ...job, result: null };
}

/** Whether a job was the last to occupy the unique key of a request, and its end did not free the key. */
export function isHolder(
  { request: its, status, isUniqueFreed }: ModelJob,
  { name, unique }: CreateJobRequest,
): boolean {
  if (unique === null || its.name !== name || its.unique?.key !== unique.key || isUniqueFreed) return false;
  if (its.unique.until === 'ended') return !isTerminal(status);
  return its.unique.until === 'expired' || isWaiting(status) || status === 'delivered';
}

/** The key of a holder with a time is free once that time is over. */
export const occupies = ({ now }: World, { request, createdAt }: ModelJob): boolean =>
  request.unique?.until !== 'expired' || now < createdAt + (request.unique.ttlSeconds as number) * 1_000;

function conflict(world: World, holder: ModelJob, request: CreateJobRequest): Creation {
  const { onConflict } = request.unique as NonNullable<CreateJobRequest['unique']>;
  if (onConflict === 'reject') throw new Refusal('JOB_NOT_UNIQUE', holder.status);
  if (onConflict === 'return' || !isWaiting(holder.status)) return { outcome: 'returned', job: jobOf(holder) };
  replace(world, holder, request);
  return { outcome: 'replaced', job: jobOf(holder) };
}

export const isWaiting = (status: Status) => status === 'scheduled' || status === 'pending';

/** Replace the request of a job that waits. It keeps its id, its attempts and, while it is claimable, its place. */
export function replace(world: World, job: ModelJob, request: CreateJobRequest): void {
  const place = job.status === 'pending' ? job.claimOrder : undefined;
  job.request = completed(request);
  job.priority = request.priority;
  job.checkpoint = null;
  Object.assign(job, { scheduledFor: null, startBy: null, isStarted: job.attemptNumber > 0 });
  const scheduledFor = timeOf(world, request);
  wait(world, job, scheduledFor, place);
  job.updatedAt = world.now;
  recordEvent(world, job, 'replaced', scheduledFor === null ? null : { scheduledFor: iso(scheduledFor) });
}
