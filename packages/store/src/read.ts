import {
  type JobWithEvents,
  type LatestProgress,
  type ListedJob,
  type ListJobsQuery,
  type Progress,
  YardmasterError,
} from '@yardmaster/protocol';
import { historyOf, jobOf, LISTED_FIELDS, listedJobOf, parseJson, recordOf, recordOfListed } from './record.js';
import { asked } from './redis-errors.js';
import { runScript } from './script.js';
import { get, list } from './scripts.generated.js';
import type { Caller, Store } from './store.js';
import { isoOrNull } from './time.js';
import { worksOn } from './works-on.js';

/**
 * Read a job with its history, oldest event first, as of one moment.
 *
 * @throws JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see spec §4.5
 */
export async function getJob(store: Store, caller: Caller, jobId: string): Promise<JobWithEvents> {
  const { keys, args } = worksOn(store, caller, jobId);
  const [, flat, entries] = await runScript(store, get, { keys, args });
  const record = recordOf(flat as string[]);
  const job = jobOf(jobId, record);
  return { ...job, events: historyOf(job, entries as string[], Number(record.eventsDropped ?? 0)) };
}

/**
 * Read the latest progress report of a job, and nothing else of it.
 *
 * @throws JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see spec §4.6
 */
export async function getProgress(store: Store, caller: Caller, jobId: string): Promise<LatestProgress> {
  const { keys } = worksOn(store, caller, jobId);
  const [space, progress, progressAt] = await asked(store.redis.hmget(keys.job, 'space', 'progress', 'progressAt'));
  if (!space) throw new YardmasterError('JOB_NOT_FOUND');
  if (caller.spaceId !== null && caller.spaceId !== space) throw new YardmasterError('FORBIDDEN');
  return { jobId, progress: parseJson(progress) as Progress | null, timestamp: isoOrNull(progressAt) };
}

/**
 * Read a page of a space's jobs, newest first. A space nobody used is empty.
 *
 * @throws UNAVAILABLE
 * @see spec §4.2
 */
export async function listJobs(
  store: Store,
  spaceId: string,
  { status, limit, offset }: ListJobsQuery,
): Promise<ListedJob[]> {
  const index = status ? store.keys.jobsByStatus(spaceId, status) : store.keys.jobs(spaceId);
  const [, ...rows] = await runScript(store, list, {
    keys: { index },
    args: { base: store.keys.baseOfSpace(spaceId), offset, limit },
    rest: LISTED_FIELDS,
  });
  return (rows as [string, string[]][]).map(([id, values]) => listedJobOf(id, recordOfListed(values)));
}
