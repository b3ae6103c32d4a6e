import {
  type JobWithEvents,
  type LatestProgress,
  type ListedJob,
  type ListJobsQuery,
  type Progress,
  YardmasterError,
} from '@yardmaster/protocol';
import { ask } from './ask.js';
import {
  createdEventOf,
  eventsOf,
  jobOf,
  LISTED_FIELDS,
  listedJobOf,
  parseJson,
  recordOf,
  recordOfListed,
} from './record.js';
import { runScript } from './script.js';
import { get, history, list } from './scripts.generated.js';
import { type Caller, onBulk, type Store } from './store.js';
import { isoOrNull } from './time.js';
import { worksOn } from './works-on.js';

/** Entries of history read at once: 6 MB when each is as large as may be, which takes Redis some 40 ms. */
const PORTION = 100;

/**
 * Read a job with its history, oldest event first, as of one moment. A long history is read in portions, of which
 * later ones may lack what was dropped at the old end in the meantime.
 *
 * @throws JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see spec §4.5
 */
export function getJob(store: Store, caller: Caller, jobId: string): Promise<JobWithEvents> {
  return store.inTurn(async (turn) => {
    const { keys, args } = worksOn(store, caller, jobId);
    const reply = await runScript(onBulk(store), get, { keys, args: { portion: PORTION, ...args } });
    const [, flat, entries, length] = reply as [string, string[], string[], number];
    const record = recordOf(flat);
    const firstSeq = 2 + Number(record.eventsDropped ?? 0);
    const endSeq = firstSeq + length;
    const job = jobOf(jobId, record);
    const events = [createdEventOf(job), ...eventsOf(job, firstSeq, entries)];
    for (let next = firstSeq + entries.length; next < endSeq; ) {
      turn.check();
      // What was asked for may be dropped by now: the portion then starts, and so ends, later.
      const portion = await readPortion(store, keys, next);
      if (portion.entries.length === 0) break;
      events.push(...eventsOf(job, portion.firstSeq, portion.entries.slice(0, Math.max(0, endSeq - portion.firstSeq))));
      next = portion.firstSeq + portion.entries.length;
    }
    return { ...job, events };
  });
}

async function readPortion(store: Store, keys: { job: string }, fromSeq: number) {
  const reply = await runScript(onBulk(store), history, { keys, args: { fromSeq, portion: PORTION } });
  const [, firstSeq, entries] = reply as [string, number, string[]];
  return { firstSeq, entries };
}

/**
 * Read the latest progress report of a job, and nothing else of it.
 *
 * @throws JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see spec §4.6
 */
export async function getProgress(store: Store, caller: Caller, jobId: string): Promise<LatestProgress> {
  const { keys } = worksOn(store, caller, jobId);
  const [space, progress, progressAt] = await ask(
    store,
    'hmget',
    store.redis.hmget(keys.job, 'space', 'progress', 'progressAt'),
  );
  if (!space) throw new YardmasterError('JOB_NOT_FOUND');
  if (caller.spaceId !== null && caller.spaceId !== space) throw new YardmasterError('FORBIDDEN');
  return { jobId, progress: parseJson(progress) as Progress | null, timestamp: isoOrNull(progressAt) };
}

/** Bytes of records that one script reads of a list, which takes Redis some 20 ms. */
const LIST_BUDGET = 4 * 1_048_576;

/**
 * Read a page of a space's jobs, newest first, as of one moment; a page of large records in several steps, between
 * which jobs may come and go. A space nobody used is empty.
 *
 * @throws UNAVAILABLE
 * @see spec §4.2
 */
export function listJobs(store: Store, spaceId: string, query: ListJobsQuery): Promise<ListedJob[]> {
  const { status, limit, offset } = query;
  const index = status ? store.keys.jobsByStatus(spaceId, status) : store.keys.jobs(spaceId);
  const base = store.keys.baseOfSpace(spaceId);
  return store.inTurn(async (turn) => {
    // By id: a job that is created between two steps moves the others one place on.
    const page = new Map<string, ListedJob>();
    for (let looked = 0, left = limit; left > 0; ) {
      turn.check();
      const args = { base, offset: offset + looked, limit: limit - looked, budget: LIST_BUDGET };
      const reply = await runScript(onBulk(store), list, { keys: { index }, args, rest: LISTED_FIELDS });
      const [, lookedAt, notYet, ...rows] = reply as [string, number, number, ...[string, string[]][]];
      for (const [id, values] of rows) page.set(id, listedJobOf(id, recordOfListed(values)));
      looked += lookedAt;
      left = notYet;
    }
    return [...page.values()];
  });
}
