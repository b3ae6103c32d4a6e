import type { JobWithEvents, LogEntry, LogsQuery } from '@yardmaster/protocol';
import { ANY_SPACE, getJob, readLogs, redisNow, type Store } from '@yardmaster/store';
import type { Redis } from 'ioredis';
import { fsck, keysOf } from '../../test/support/fsck.js';

/** A stored job, including data that clients cannot see. */
export interface DumpedJob extends JobWithEvents {
  logs: LogEntry[]; // Oldest first.
  deadline: number | null; // When its window ends or its purge is due, epoch milliseconds; null for none.
  isCallbackPending: boolean; // Whether its callback is pending.
}

/** Everything that Redis contains. */
export interface Dump {
  at: number; // Time of the dump by the clock of Redis, epoch milliseconds.
  jobs: DumpedJob[];
  /** Inconsistencies reported by fsck, one sentence each. */
  fsck: string[];
}

/** A query for all logs of a job in a run. */
export const ALL_LOGS: LogsQuery = { mode: 'latest', bound: null, limit: 500, levels: null, terms: [] };

/** Read all stored data: jobs as clients see them, and data that clients cannot see. */
export async function dump(store: Store): Promise<Dump> {
  const redis = store.redis as Redis;
  const prefix = store.settings.keyPrefix;
  const at = await redisNow(store);
  const ids = (await keysOf(redis, prefix)).flatMap((key) => /:job:([a-z0-9]{28})$/.exec(key)?.[1] ?? []);
  const jobs: DumpedJob[] = [];
  for (const id of ids) {
    const [partition, job] = [id.slice(0, 2), await getJob(store, ANY_SPACE, id)];
    const deadline = await redis.zscore(store.keys.deadlines(partition), id);
    const pending = await redis.zscore(store.keys.callbacks(partition), id);
    const stored = { deadline: deadline === null ? null : Number(deadline), isCallbackPending: pending !== null };
    jobs.push({ ...job, ...stored, logs: (await readLogs(store, ANY_SPACE, id, ALL_LOGS)).logs });
  }
  return { at, jobs, fsck: await fsck(store) };
}
