import {
  ALL_EVENTS,
  type CreateJobRequest,
  type EventRange,
  type Job,
  type JobWithEvents,
  type LatestProgress,
  type ListedJob,
  type ListJobsQuery,
  type SpaceList,
  type SpaceStats,
  STATUSES,
  type Status,
  type Unique,
} from '@yardmaster/protocol';
import { type JobPage, partitionOf, type Since, type Snapshot } from '@yardmaster/store';
import { shownPaused } from './pauses.js';
import { queueOf } from './waiting.js';
import { iso, jobFor, jobsOf, type ModelJob, type OfJob, timeOfOrder, type World } from './world.js';

// What readers get.

const isoOrNull = (ms: number | null) => (ms === null ? null : iso(ms));

function listed(job: ModelJob): ListedJob {
  const { id, spaceId, status, attemptNumber, result, request, createdAt, updatedAt } = job;
  const { name, payload, maxRetries, timeoutSeconds, unique, retry, maxRunSeconds, startWithinSeconds } = request;
  return {
    ...{ id, spaceId, name, payload, status, maxRetries, attemptNumber, timeoutSeconds },
    deliveredAt: isoOrNull(job.deliveredAt),
    startedAt: isoOrNull(job.startedAt),
    completedAt: status === 'completed' ? iso(updatedAt) : null,
    result,
    ...(job.error === null ? {} : { error: job.error }),
    ...(job.progress === null ? {} : { progress: job.progress.data }),
    ...(job.scheduledFor === null ? {} : { scheduledFor: iso(job.scheduledFor) }),
    ...shownOptions({ retry }),
    ...(maxRunSeconds === null ? {} : { maxRunSeconds }),
    ...(startWithinSeconds === null ? {} : { startWithinSeconds }),
    ...(job.priority === 0 ? {} : { priority: job.priority }),
    ...(unique && { unique: shownUnique(unique) }),
    ...(job.copyOf === null ? {} : { copyOf: job.copyOf }),
    ...(job.request.tags && { tags: job.request.tags }),
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
  };
}

/** Members at their defaults are not shown. */
function shownUnique({ key, until, onConflict, ttlSeconds }: NonNullable<CreateJobRequest['unique']>): Unique {
  const shown: Unique = { key };
  if (until !== 'ended') shown.until = until;
  if (onConflict !== 'return') shown.onConflict = onConflict;
  if (ttlSeconds !== null) shown.ttlSeconds = ttlSeconds;
  return shown;
}

/** Return options as a job shows them: without members that are at their defaults. */
export function shownOptions({
  retry,
  callbackOn = null,
}: Pick<CreateJobRequest, 'retry'> & Partial<Pick<CreateJobRequest, 'callbackOn'>>): Pick<Job, 'retry' | 'callbackOn'> {
  const shown: Pick<Job, 'retry' | 'callbackOn'> = {};
  if (callbackOn !== null && callbackOn.join() !== 'completed,dead') shown.callbackOn = callbackOn;
  if (retry === null) return shown;
  const { delaySeconds, factor, maxDelaySeconds, jitter } = retry;
  const [first, ...others] = [delaySeconds].flat() as [number];
  shown.retry = { delaySeconds: others.length === 0 ? first : delaySeconds };
  if (factor !== null && factor !== 1) shown.retry.factor = factor;
  if (maxDelaySeconds !== null && maxDelaySeconds !== 604_800) shown.retry.maxDelaySeconds = maxDelaySeconds;
  if (jitter !== 0.2) shown.retry.jitter = jitter;
  return shown;
}

export function jobOf(job: ModelJob): Job {
  const { callbackUrl, callbackHeaders, callbackOn } = job.request;
  return { ...listed(job), callbackUrl, callbackHeaders, ...shownOptions({ retry: null, callbackOn }) };
}

export function get(
  world: World,
  { job: id, caller, range = ALL_EVENTS }: OfJob & { range?: EventRange },
): JobWithEvents {
  const job = jobFor(world, id, caller);
  const of = { jobId: id, spaceId: job.spaceId };
  const wanted = job.events.filter(({ seq }) => seq > range.after).slice(0, range.limit);
  const events = wanted.map(({ seq, type, data, at }) => ({
    id: `${id}.${seq}`,
    ...of,
    type,
    data,
    createdAt: iso(at),
  }));
  return { ...jobOf(job), events };
}

export function progress(world: World, { job: id, caller }: OfJob): LatestProgress {
  const { progress: latest } = jobFor(world, id, caller);
  return { jobId: id, progress: latest?.data ?? null, timestamp: isoOrNull(latest?.at ?? null) };
}

/** Return the state with which a stream of the job begins. */
export function snapshot(world: World, { job: id, caller }: OfJob): Snapshot {
  const job = jobFor(world, id, caller);
  return {
    seq: job.events.at(-1)?.seq as number,
    droppedSeq: (job.events[1]?.seq ?? 2) - 1,
    logSeq: job.logSeq,
    at: world.now,
    spaceId: job.spaceId,
    jobName: job.request.name,
    status: job.status,
    progress: job.progress?.data ?? null,
    tags: job.request.tags ?? [],
    // A job whose only event is its creation has not changed since: no worker has called.
    updatedAt: job.events.length === 1 ? null : job.updatedAt,
  };
}

/** Return what a stream has missed. A stream cannot miss `created`. */
export function since(world: World, { job: id, fromSeq }: { job: string; fromSeq: number }): Since {
  const { spaceId, status, request, events, logs, logSeq } = jobFor(world, id, null);
  const jobName = request.name;
  const missed = events.filter(({ seq }) => seq >= Math.max(2, fromSeq)).slice(0, 100);
  return {
    events: missed.map((event, i) => ({
      ...{ jobId: id, jobName, spaceId, ...event, ...(request.tags && { tags: request.tags }) },
      // The store cannot know the status at a callback when it does not read the end of the job.
      ...(missed.slice(0, i + 1).every(({ type }) => type.startsWith('callback')) && { status }),
    })),
    lastSeq: events.at(-1)?.seq as number,
    newestLog: { seq: logSeq, at: logs.length === 0 ? 0 : Date.parse(logs.at(-1)?.createdAt as string) },
    jobName,
    spaceId,
    status,
  };
}

export type PageOfJobs = { space: string } & ListJobsQuery;

/** Return whether a job passes a filter. */
export function passes(
  { request, status, createdAt, result, error }: ModelJob,
  filter: ListJobsQuery['filter'],
): boolean {
  const { statuses, names, tags, createdAfter, createdBefore, q } = filter;
  const has = (text: unknown) => text !== null && JSON.stringify(text).toUpperCase().includes(String(q).toUpperCase());
  return (
    (statuses.length === 0 || statuses.includes(status)) &&
    (names.length === 0 || names.includes(request.name)) &&
    tags.every((tag) => request.tags?.includes(tag)) &&
    createdAt >= (createdAfter ?? Number.NEGATIVE_INFINITY) &&
    createdAt < (createdBefore ?? Number.POSITIVE_INFINITY) &&
    (q === null || [request.payload, result, error].some(has))
  );
}

/**
 * List jobs by creation.
 *
 * @param stored response of the store: after a full page that had to be searched for, it need not know that no job follows
 */
export function list(
  world: World,
  { space, filter, order, cursor, limit, offset }: PageOfJobs,
  stored: unknown,
): JobPage {
  const sign = order === 'asc' ? 1 : -1;
  const found = jobsOf(world, space)
    .filter((job) => passes(job, filter) && (cursor === null || sign * (job.createdOrder - cursor) > 0))
    .sort((a, b) => sign * (a.createdOrder - b.createdOrder));
  const page = found.slice(offset, offset + limit);
  const isSearch = filter.q !== null || filter.names.length > 0 || filter.tags.length > 0;
  const mayGoOn = isSearch && page.length === limit && (stored as JobPage).nextCursor !== null;
  const hasNext = found.length > offset + limit || mayGoOn;
  return { jobs: page.map(listed), nextCursor: hasNext ? String(page.at(-1)?.createdOrder) : null };
}

export function stats(
  world: World,
  { space, limit, names }: { space: string; limit: number; names: string[] },
): SpaceStats {
  const jobs = jobsOf(world, space);
  const counted = STATUSES.map((status): [Status, number] => [
    status,
    jobs.filter((job) => job.status === status).length,
  ]).filter(([status, count]) => status !== 'scheduled' || count > 0);
  const queue = queueOf(world, space);
  // Without the head start.
  const ageOf = (job: ModelJob | undefined) =>
    job ? Math.max(0, world.now - timeOfOrder(job.claimOrder)) / 1_000 : null;
  const known = [...new Set(jobs.map(({ request }) => request.name))];
  const rowOf = (name: string) => {
    const waiting = queue.filter(({ request }) => request.name === name);
    const total = jobs.filter(({ request }) => request.name === name).length;
    return { name, total, pending: waiting.length, oldestPendingAgeSeconds: ageOf(waiting[0]) };
  };
  // Names with equally many jobs are in descending order of their bytes; any order would do.
  const most = known.map(rowOf).sort((a, b) => b.total - a.total || (a.name < b.name ? 1 : -1));
  const rows = names.length === 0 ? most.slice(0, limit) : names.map(rowOf);
  return {
    spaceId: space,
    timestamp: iso(world.now),
    jobs: { ...Object.fromEntries(counted), total: jobs.length } as SpaceStats['jobs'],
    oldestPendingAgeSeconds: ageOf(queue[0]),
    ...shownPaused(world, space),
    names: rows,
    namesLeftOut: known.length - rows.filter(({ total }) => total > 0).length,
  };
}

/** List the spaces that have jobs, by partition and then by id. */
export function spaces(world: World, { cursor, limit }: { cursor: string | null; limit: number }): SpaceList {
  const rankOf = (space: string) => `${partitionOf(space)} ${space}`;
  const ids = [...new Set([...world.jobs.values()].map(({ spaceId }) => spaceId))]
    .filter((space) => cursor === null || rankOf(space) > rankOf(cursor))
    .sort((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1));
  const shown = ids.slice(0, limit);
  return {
    spaces: shown.map((space) => {
      const { spaceId, jobs, oldestPendingAgeSeconds } = stats(world, { space, limit: 0, names: [] });
      return { spaceId, jobs, oldestPendingAgeSeconds };
    }),
    nextCursor: ids.length > limit ? (shown.at(-1) as string) : null,
  };
}
