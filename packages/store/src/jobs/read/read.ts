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

/** Entries of history read at once. */
const PORTION = LIMITS.eventsMax;

/** Bytes that are read at once, over the connection of all calls; a larger read waits for a read slot. */
const SMALL_BYTES = 65_536;

/**
 * Read a job with its history or a part of it, oldest event first, as of one moment. A long history is read in portions, of
 * which later ones may lack events that were dropped at the old end in the meantime.
 *
 * @throws JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE; OVERLOADED for a large job that got no read slot in time
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
    // The budget has no limit, because the job may have grown.
    const read = (await readFirst(bulk, caller, jobId, { range, budget: Number.MAX_SAFE_INTEGER })) as FirstPortion;
    const { job, end } = read;
    for (let { next } = read; next < end; ) {
      slot.check();
      // The events asked for may be dropped by now: the portion then starts, and so ends, later.
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

/** A job with the oldest portion of the events asked for. */
interface FirstPortion {
  job: JobWithEvents;
  next: number; // Seq of the first event that is not read yet.
  end: number; // Seq after the last event to read.
}

/**
 * Read a job with the oldest portion of some events.
 *
 * @returns null when the job and the portion have more bytes than `budget`
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
 * Read the latest progress report of a job, and nothing else of it.
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
