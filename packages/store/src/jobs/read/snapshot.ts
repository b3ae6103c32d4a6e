import type { Progress, Status } from '@yardmaster/protocol';
import { runScript } from '../../script/run-script.js';
import { snapshot } from '../../script/scripts.generated.js';
import { type Caller, inputsForJob, type Store } from '../../store.js';
import { labelsOfStored } from '../labels.js';
import { parseJson } from './record.js';

/** Snapshot of a job's state, which streams send first. */
export interface Snapshot {
  /** Seq of the newest event that it includes. */
  seq: number;
  /** Seq of the newest event that the history no longer has; 1, which is `created`, when it has all others. */
  droppedSeq: number;
  /** Seq of the newest log entry; 0 for none. */
  logSeq: number;
  /** When it was read, epoch milliseconds by the clock of Redis. */
  at: number;
  spaceId: string;
  jobName: string;
  status: Status;
  /** Latest progress report; null before the first. */
  progress: Progress | null;
  tags: readonly string[];
  /** When the job last changed, epoch milliseconds; null if it has not changed since its creation. */
  updatedAt: number | null;
}

/**
 * Read the state of a job, without its history.
 *
 * @throws JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 */
export async function readSnapshot(store: Store, caller: Caller, jobId: string): Promise<Snapshot> {
  const reply = await runScript(store, snapshot, inputsForJob(store, caller, jobId));
  const { space, name, updatedAt, progress, tags, ...read } = reply;
  return {
    ...read,
    spaceId: space,
    jobName: name,
    updatedAt: updatedAt || null,
    progress: parseJson(progress) as Progress | null,
    tags: labelsOfStored(tags).tags,
  };
}
