import type { JobWithEvents, LogEntry, LogsQuery } from '@yardmaster/protocol';
import {
  ANY_SPACE,
  fsck as checkStored,
  type Fault,
  getJob,
  PARTITION_TAGS,
  readLogs,
  redisNow,
  type Store,
} from '@yardmaster/store';
import type { Redis } from 'ioredis';
import { fsck, keysOf } from '../support/fsck.js';

/** A job as it is stored. */
export interface DumpedJob extends JobWithEvents {
  /** Oldest first. */
  logs: LogEntry[];
  /** When something is due for it, epoch milliseconds. */
  deadline: number | null;
  /** Whether its callback is owed. */
  isOwed: boolean;
}

/** All that Redis holds. */
export interface Dump {
  /** Redis' clock, epoch milliseconds. */
  at: number;
  jobs: DumpedJob[];
  /** What records, indexes and histories disagree about, a sentence each: by the test's check and by the product's. */
  fsck: string[];
}

/** Read everything: jobs as callers see them, and what only Redis knows. */
export async function dump(store: Store): Promise<Dump> {
  const redis = store.redis as Redis;
  const prefix = store.settings.keyPrefix;
  const at = await redisNow(store);
  const keys = await keysOf(redis, prefix);
  const logged = new Set(keys.filter((key) => key.endsWith(':logs')));
  const due = await membersOf(store, (partition) => store.keys.deadlines(partition));
  const owed = await membersOf(store, (partition) => store.keys.callbacks(partition));
  const jobs: DumpedJob[] = [];
  for (const key of keys) {
    const id = /:job:([a-z0-9]{28})$/.exec(key)?.[1];
    if (id === undefined) continue;
    const job = await getJob(store, ANY_SPACE, id);
    const logs = logged.has(`${key}:logs`) ? await logsOf(store, id) : [];
    jobs.push({ ...job, logs, deadline: due.get(id) ?? null, isOwed: owed.has(id) });
  }
  return { at, jobs, fsck: [...(await fsck(redis, prefix)), ...(await productFaults(store))] };
}

/** Ids of jobs in an index of every partition, with their scores. */
async function membersOf(store: Store, keyOf: (partition: string) => string): Promise<Map<string, number>> {
  const members = new Map<string, number>();
  for (const partition of PARTITION_TAGS) {
    const flat = await (store.redis as Redis).zrange(keyOf(partition), 0, -1, 'WITHSCORES');
    for (let i = 0; i < flat.length; i += 2) members.set(flat[i] as string, Number(flat[i + 1]));
  }
  return members;
}

async function logsOf(store: Store, id: string): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for (let bound = 0; ; ) {
    const query: LogsQuery = { mode: 'after', bound, limit: 500, levels: null, terms: [] };
    const { logs, cursor } = await readLogs(store, ANY_SPACE, id, query);
    entries.push(...logs);
    if (!cursor.hasMore) return entries;
    bound = cursor.newestSeq;
  }
}

async function productFaults(store: Store): Promise<string[]> {
  const faults: string[] = [];
  const onFault = ({ kind, key, detail }: Fault) => faults.push(`${kind}: ${key}: ${detail}`);
  await checkStored(store, { onFault });
  return faults;
}
