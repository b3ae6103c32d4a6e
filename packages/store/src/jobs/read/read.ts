import {
  ALL_EVENTS,
  type EventRange,
  isJobId,
  type JobWithEvents,
  type LatestProgress,
  LIMITS,
  type Progress,
  YardmasterError,
} from '@yardmaster/protocol';
import { call } from '../../call.js';
import { onBulk, runScript } from '../../script/run-script.js';
import { get, history } from '../../script/scripts.generated.js';
import { type Caller, inputsForJob, type Store, tenantOf } from '../../store.js';
import { isoOrNull } from '../../time.js';
import { createdEventOf, eventsOf, jobOf, parseJson, recordOf } from './record.js';
import { stateOf } from './state.js';

/** Entries of the history per read. */
const PORTION = LIMITS.eventsMax;

/** Maximum bytes of a read without a read slot, over the main connection. */
const SMALL_BYTES = 65_536;

/**
 * Read a job with its history or a range of it, oldest event first. A short history is read in one snapshot. A long one is
 * read in portions, and may lack events that were dropped in the meantime.
 *
 * @throws JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE; OVERLOADED for a large job that gets no read slot in time
 * @see docs/api/read.md#get-a-job
 */
export async function getJob(
  store: Store,
  caller: Caller,
  jobId: string,
  range: EventRange = ALL_EVENTS,
): Promise<JobWithEvents> {
  const small = await readFirst(store, caller, jobId, { range, budget: SMALL_BYTES });
  if (small !== null && small.next >= small.end) return small.job;
  return store.slots.read(tenantOf(caller), async (slot) => {
    const bulk = onBulk(store);
    // No limit, because the job may have grown.
    const read = (await readFirst(bulk, caller, jobId, { range, budget: Number.MAX_SAFE_INTEGER })) as FirstPortion;
    const { job, end } = read;
    for (let { next } = read; next < end; ) {
      slot.check();
      // If requested events were dropped in the meantime, the portion starts and ends later.
      const { keys, args } = inputsForJob(store, caller, jobId);
      const { firstSeq, events: entries } = await runScript(bulk, history, {
        keys,
        args: { ...args, fromSeq: next, portion: PORTION },
      });
      if (entries.length === 0) break;
      job.events.push(...eventsOf(job, firstSeq, entries.slice(0, Math.max(0, end - firstSeq))));
      next = firstSeq + entries.length;
    }
    return job;
  });
}

/** A job with the first portion of the requested events. */
interface FirstPortion {
  job: JobWithEvents;
  /** Seq of the first event that is not read yet. */
  next: number;
  /** Seq after the last event to read. */
  end: number;
}

/**
 * Read a job with the first portion of the requested events.
 *
 * @returns null when they exceed `budget` bytes
 */
async function readFirst(
  on: Store,
  caller: Caller,
  jobId: string,
  { range: { after, limit }, budget }: { range: EventRange; budget: number },
): Promise<FirstPortion | null> {
  const { keys, args } = inputsForJob(on, caller, jobId);
  const hasCreated = after === 0 && limit > 0;
  const most = limit - (hasCreated ? 1 : 0);
  const portion = Math.min(PORTION, most);
  const reply = await runScript(on, get, { keys, args: { ...args, fromSeq: after + 1, portion, budget } });
  if (reply.outcome === 'LARGE') return null;
  const { events: entries, firstSeq } = reply;
  const record = recordOf(reply.record);
  const job = jobOf(jobId, record);
  const events = [...(hasCreated ? [createdEventOf(job)] : []), ...eventsOf(job, firstSeq, entries)];
  const end = Math.min(stateOf(record.state as string).seq + 1, firstSeq + most);
  return { job: { ...job, events }, next: firstSeq + entries.length, end };
}

/**
 * Read only the latest progress report of a job.
 *
 * @throws JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/api/read.md#get-a-job
 */
export async function getProgress(store: Store, caller: Caller, jobId: string): Promise<LatestProgress> {
  if (!isJobId(jobId)) throw new YardmasterError('JOB_NOT_FOUND');
  const [state, progress, progressAt] = await call(
    store,
    'hmget',
    store.redis.hmget(store.keys.job(jobId), 'state', 'progress', 'progressAt'),
  );
  if (!state) throw new YardmasterError('JOB_NOT_FOUND');
  if (caller.spaceId !== null && caller.spaceId !== stateOf(state).spaceId) throw new YardmasterError('FORBIDDEN');
  return { jobId, progress: parseJson(progress) as Progress | null, timestamp: isoOrNull(progressAt) };
}
