import { type PublishedEvent, type Status, statusAfter } from '@yardmaster/protocol';
import { parseLog } from '../../logs/append.js';
import { onBulk, runScript } from '../../script/run-script.js';
import { since } from '../../script/scripts.generated.js';
import { ANY_SPACE, inputsForJob, type Store } from '../../store.js';
import { labelsOfStored } from '../labels.js';
import { eventsOf, parseJson } from './record.js';

/** Entries of the history per read. At their maximum size, they take 6 MB and 40 ms of Redis's time. */
const PORTION = 100;

/** Events of a job since a seq, and its current state. */
export interface Since {
  /** At most 100 events, oldest first, as they were published, but with the current tags of the job. */
  events: PublishedEvent[];
  /** Seq of the newest event; less than `fromSeq - 1` when Redis has lost events. */
  lastSeq: number;
  /** The newest log entry: its seq (0 for none), and when it was stored, epoch milliseconds. */
  newestLog: { seq: number; at: number };
  jobName: string;
  spaceId: string;
  status: Status;
}

/**
 * Read the events of a job, starting at a seq.
 *
 * @param fromSeq seq of the first event to read; if it was dropped, the oldest that is left comes first
 * @throws JOB_NOT_FOUND, UNAVAILABLE
 */
export async function readSince(store: Store, jobId: string, fromSeq: number): Promise<Since> {
  const { keys, args } = inputsForJob(store, ANY_SPACE, jobId);
  const reply = await runScript(onBulk(store), since, { keys, args: { ...args, fromSeq, portion: PORTION } });
  const { firstSeq, lastSeq, logSeq, newestLog, status, name: jobName, space: spaceId } = reply;
  const job = { id: jobId, spaceId, result: parseJson(reply.result) };
  // An event that changes no status, such as a callback's, has the status of the previous event. Without a previous event
  // here, the current status is nearly always right.
  let known = status;
  const { tags: own } = labelsOfStored(reply.tags);
  const tags = own.length > 0 ? { tags: own } : {};
  const events = eventsOf(job, firstSeq, reply.events).map(({ type, data, createdAt }, i): PublishedEvent => {
    known = statusAfter({ type, data }) ?? known;
    const at = Date.parse(createdAt);
    return { seq: firstSeq + i, jobId, jobName, spaceId, type, status: known, data, at, ...tags };
  });
  const loggedAt = newestLog ? parseLog(newestLog)[0] : 0;
  return {
    events,
    lastSeq,
    newestLog: { seq: logSeq, at: loggedAt },
    jobName,
    spaceId,
    status,
  };
}
