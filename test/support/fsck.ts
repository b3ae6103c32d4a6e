import { primariesOf } from '@yardmaster/redis';
import type { Redis } from 'ioredis';

type Members = Map<string, string>;

/** All that is stored under a prefix, by kind. Names of indexes are without the prefix. */
interface Dump {
  jobs: Map<string, Record<string, string>>;
  histories: Map<string, string[]>;
  /** Jobs that have logs. */
  logged: string[];
  indexes: Map<string, Members>;
  /** Last orders, by `{<partition>}:<space>`. */
  lastOrders: Map<string, number>;
  /** Job ids by unique key, of each space. */
  unique: Map<string, Record<string, string>>;
  /** What is paused, by space. */
  paused: Map<string, Record<string, string>>;
  unknown: string[];
}

/** List all keys of a prefix. */
export async function keysOf(redis: Redis, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for (const server of primariesOf(redis)) {
    for await (const batch of server.scanStream({ match: `${prefix}:*`, count: 1_000 }))
      keys.push(...(batch as string[]));
  }
  return [...new Set(keys)];
}

/**
 * Remove all jobs below a prefix with everything of theirs. API keys and timers, which a running service needs, stay.
 */
export async function removeJobs(redis: Redis, prefix: string): Promise<void> {
  for (;;) {
    const keys = (await keysOf(redis, prefix)).filter((key) => /^\{..\}:/.test(key.slice(prefix.length + 1)));
    if (keys.length === 0) return;
    await Promise.all(keys.map((key) => redis.unlink(key)));
    // A running scheduler may have written some keys again in the meantime.
  }
}

async function membersOf(redis: Redis, key: string): Promise<Members> {
  const flat = await redis.zrange(key, 0, -1, 'WITHSCORES');
  const members: Members = new Map();
  for (let i = 0; i < flat.length; i += 2) members.set(flat[i] as string, flat[i + 1] as string);
  return members;
}

async function dump(redis: Redis, prefix: string): Promise<Dump> {
  const all: Dump = {
    jobs: new Map(),
    histories: new Map(),
    logged: [],
    indexes: new Map(),
    lastOrders: new Map(),
    unique: new Map(),
    paused: new Map(),
    unknown: [],
  };
  for (const key of await keysOf(redis, prefix)) await dumpKey(redis, key, key.slice(prefix.length + 1), all);
  return all;
}

/** Whether a key belongs to the history of a space. Processes write it a little after the calls that it counts. */
export const isOfHistory = (name: string) => /\{..\}:(space:[^/]+\/history\/\d+\/\d+|counted:\w+)$/.test(name);

/** Whether a key belongs to an operation on many jobs, which no index or record depends on. */
const isOfOperations = (name: string) =>
  /^\{..\}:(operation:[a-z0-9]{28}|operations|space:[^/]+\/operations)$/.test(name);

async function dumpKey(redis: Redis, key: string, name: string, all: Dump): Promise<void> {
  if (isOfHistory(name)) return; // It expires.
  const [, id, part] = /^\{..\}:job:([a-z0-9]{28})(:events|:logs)?$/.exec(name) ?? [];
  const [, hash] = /^\{..\}:space:[^/]+\/(unique|paused)$/.exec(name) ?? [];
  if (id && part === ':logs') all.logged.push(id);
  else if (id && part) all.histories.set(id, await redis.lrange(key, 0, -1));
  else if (id) all.jobs.set(id, await redis.hgetall(key));
  else if (isOfOperations(name)) return;
  else if (hash) all[hash as 'unique' | 'paused'].set(name, await redis.hgetall(key));
  else if (/^\{..\}:(space:|deadlines$|due$|callbacks$)/.test(name)) all.indexes.set(name, await membersOf(redis, key));
  else if (/^\{..\}:spaces$/.test(name)) {
    for (const [space, order] of await membersOf(redis, key))
      all.lastOrders.set(`${name.slice(0, 5)}${space}`, Number(order));
  } else if (!/^(meta$|\{keys\}:(records|used)$|\{audit\}$|\{..\}:(stepped|settings|pauses)$|\{bull\}:)/.test(name))
    all.unknown.push(key);
}

type JobRecord = Record<string, string>;

const isWaiting = ({ status }: JobRecord) => status === 'scheduled' || status === 'pending';

/** Return until when a job must be acked for the first time; Infinity for no limit, or once it was acked. */
function startLimitOf({ startBy = '0', attempt = '0' }: JobRecord): number {
  return startBy !== '0' && attempt === '0' ? Number(startBy) : Number.POSITIVE_INFINITY;
}

/** Return the score of a waiting job in `due`; Infinity for a job that has no entry there. */
function dueOf(job: JobRecord): number {
  return job.status === 'scheduled' ? Math.min(Number(job.scheduledFor), startLimitOf(job)) : startLimitOf(job);
}

/** List the indexes that must contain a job; no other index may, except `due` when the job is delivered. */
function indexesOf(id: string, job: JobRecord): string[] {
  const base = `{${id.slice(0, 2)}}:`;
  const space = `${base}space:${job.space}/`;
  return [
    `${space}jobs`,
    `${space}status/${job.status}`,
    ...(job.tags ?? '').split('\n').flatMap((tag) => (tag === '' ? [] : [`${space}tag/${tag}`])),
    ...(job.status === 'pending' ? [`${space}queue`, `${space}queue/${job.name}`] : []),
    ...(isWaiting(job) || job.kept ? [] : [`${base}deadlines`]),
    ...(isWaiting(job) && dueOf(job) < Number.POSITIVE_INFINITY ? [`${base}due`] : []),
  ];
}

/** Return the score of a job in an index; null where the record does not define one. */
function scoreOf(index: string, job: JobRecord): string | null {
  if (index.endsWith(':due')) return String(dueOf(job));
  return /space:[^/]+\/(jobs$|status\/\w+$|tag\/)/.test(index) ? (job.order as string) : null;
}

/** The status of a job after each event that changes it. Those with data that contain a time lead to `scheduled`. */
const STATUS_AFTER: Record<string, string> = {
  ready: 'pending',
  delivered: 'delivered',
  acked: 'running',
  completed: 'completed',
  retried: 'pending',
  released: 'pending',
  delivery_timeout: 'pending',
  dead: 'dead',
  killed: 'killed',
  replaced: 'pending',
  rescheduled: 'pending',
  requeued: 'pending',
};

function statusAfter(entry: string): string | undefined {
  const [type, , data] = JSON.parse(entry) as [string, number, { scheduledFor?: string } | null | undefined];
  const status = STATUS_AFTER[type];
  return status === 'pending' && data?.scheduledFor ? 'scheduled' : status;
}

function historyFaults(id: string, job: JobRecord, history: string[]): string[] {
  const moves = history.map(statusAfter).filter(Boolean);
  const atCreation = job.status === 'scheduled' ? 'scheduled' : 'pending';
  // Without a list, the record implies the history: delivered, acked and completed, and nothing else.
  const implied = job.eventsDropped || (job.status !== 'dead' && job.status !== 'killed') ? job.status : atCreation;
  const status = moves.at(-1) ?? (history.length === 0 ? implied : job.eventsDropped ? job.status : atCreation);
  return status === job.status ? [] : [`${id} is ${job.status}, but by its history ${status}`];
}

const queueOfSpace = (id: string, { space }: JobRecord) => `{${id.slice(0, 2)}}:space:${space}/queue`;

/** Whether a job may stand in the queue of its name only, because the name is paused, or was a moment ago. */
function mayLackQueue(id: string, job: JobRecord, { paused }: Dump): boolean {
  const names = paused.get(queueOfSpace(id, job).replace(/queue$/, 'paused')) ?? {};
  return job.status === 'pending' && Object.hasOwn(names, job.name as string);
}

/** Check the place of a pending job: both queues have it before its claim order by its head start. */
function placeFaults(id: string, job: JobRecord, history: string[], all: Dump): string[] {
  const { indexes, lastOrders } = all;
  if (job.status !== 'pending') return [];
  const [queue, ofName] = indexesOf(id, job)
    .filter((index) => /space:[^/]+\/queue(\/|$)/.test(index))
    .map((index) => indexes.get(index)?.get(id));
  const isLeftOut = queue === undefined && mayLackQueue(id, job, all);
  if (queue !== ofName && !isLeftOut)
    return [`${id} is at ${queue} in its queue, and at ${ofName} in that of its name`];
  const claimOrder = Number(ofName) + Number(job.priority ?? 0) * 1_024_000;
  const last = lastOrders.get(`{${id.slice(0, 2)}}:${job.space}`) ?? 0;
  const [lastEvent] = JSON.parse(history.at(-1) ?? '["created"]') as [string];
  const isAtCreation = ['created', 'delivery_timeout', 'released'].includes(lastEvent);
  const latest = isAtCreation ? Number(job.order) : last;
  const isRight = claimOrder >= Number(job.order) && claimOrder <= latest;
  return isRight ? [] : [`claim order ${claimOrder} of ${id} is not within ${job.order} and ${latest}`];
}

/** Check that no deadline of a running job is after the time by which its attempt must end. */
function runFaults(id: string, { status, runBy }: JobRecord, indexes: Dump['indexes']): string[] {
  const deadline = Number(indexes.get(`{${id.slice(0, 2)}}:deadlines`)?.get(id));
  return status === 'running' && runBy && deadline > Number(runBy) ? [`${id} must end at ${runBy}`] : [];
}

const mayHavePendingCallback = ({ callbackUrl, callbackOn = 'completed dead', status = '' }: JobRecord) =>
  callbackUrl !== undefined && callbackOn.split(' ').includes(status);

/** Check that exactly the callbacks of ended jobs are pending, until their outcome is final. */
function callbackFaults(jobs: Dump['jobs'], indexes: Dump['indexes']): string[] {
  const faults: string[] = [];
  const pending = new Set(
    [...indexes].filter(([name]) => name.endsWith(':callbacks')).flatMap(([, ids]) => [...ids.keys()]),
  );
  for (const id of pending)
    if (!mayHavePendingCallback(jobs.get(id) ?? {})) faults.push(`${id} must not have a pending callback`);
  for (const [id, job] of jobs) {
    if (mayHavePendingCallback(job) && !pending.has(id) && job.callbackAttempts === undefined)
      faults.push(`callback of ${id} is missing`);
  }
  return faults;
}

/** Return every expected `index id`, with its score where the record defines one. */
function expectedEntries(jobs: Dump['jobs']): Map<string, string | null> {
  const entries = new Map<string, string | null>();
  for (const [id, job] of jobs) {
    for (const index of indexesOf(id, job)) {
      entries.set(`${index} ${id}`, scoreOf(index, job));
    }
    // A name's score is the number of its jobs.
    const name = `{${id.slice(0, 2)}}:space:${job.space}/names ${job.name}`;
    entries.set(name, String(Number(entries.get(name) ?? 0) + 1));
  }
  return entries;
}

/** Return the expected entries without those that a paused name may lack, where they do lack. */
function expectedIn(all: Dump, actual: ReadonlyMap<string, string>): Map<string, string | null> {
  const expected = expectedEntries(all.jobs);
  for (const [id, job] of all.jobs) {
    const entry = `${queueOfSpace(id, job)} ${id}`;
    if (!actual.has(entry) && mayLackQueue(id, job, all)) expected.delete(entry);
  }
  return expected;
}

/**
 * Return every `index id` that may exist, with its score, or null for any. Delivered jobs keep what they had in `due`
 * until they are acked; killed jobs with a callback are in `due` until an attempt was made.
 */
function optionalEntries(jobs: Dump['jobs']): Map<string, string | null> {
  const entries = new Map<string, string | null>();
  for (const [id, job] of jobs) {
    const entry = `{${id.slice(0, 2)}}:due ${id}`;
    if (job.status === 'delivered') entries.set(entry, String(startLimitOf(job)));
    if (job.status === 'killed' && job.callbackUrl && job.callbackOn?.includes('killed')) entries.set(entry, null);
  }
  return entries;
}

/** Return every `index id` that exists, with its score. */
function actualEntries(indexes: Dump['indexes']): Map<string, string> {
  const entries = new Map<string, string>();
  for (const [index, members] of indexes)
    if (!index.endsWith(':callbacks')) for (const [id, score] of members) entries.set(`${index} ${id}`, score);
  return entries;
}

/** Return the entry of a job's unique key: its space's hash, and the field there. */
function uniqueEntryOf(id: string, { space, name = '', unique = '' }: JobRecord): string {
  const key = unique.split(' ').slice(3).join(' ');
  return `{${id.slice(0, 2)}}:space:${space}/unique ${Buffer.byteLength(name)}:${name}${key}`;
}

/** Whether a job must have the entry of its unique key, may have it, or must not. */
function claimOf({ status = '', unique, uniqueFreed }: JobRecord): 'must' | 'may' | 'must not' {
  if (unique === undefined || uniqueFreed === '1') return 'must not';
  if (unique.startsWith('expired ')) return 'may';
  return ['scheduled', 'pending', 'delivered', 'running'].includes(status) ? 'must' : 'must not';
}

function uniqueFaults({ jobs, unique }: Dump): string[] {
  const actual = new Map<string, string>();
  for (const [hash, fields] of unique)
    for (const [field, id] of Object.entries(fields)) actual.set(`${hash} ${field}`, id);
  const faults: string[] = [];
  for (const [id, job] of jobs) {
    if (claimOf(job) === 'must' && actual.get(uniqueEntryOf(id, job)) !== id) faults.push(`${id} lacks its unique key`);
  }
  for (const [entry, id] of actual) {
    const job = jobs.get(id) ?? {};
    if (claimOf(job) === 'must not' || uniqueEntryOf(id, job) !== entry) faults.push(`${id} must not be in ${entry}`);
  }
  return faults;
}

/**
 * Compare every record with every index. They must agree at any moment, even after a crash.
 *
 * @returns one sentence per disagreement
 */
export async function fsck(redis: Redis, prefix: string): Promise<string[]> {
  const all = await dump(redis, prefix);
  const { jobs, histories, logged, indexes, unknown } = all;
  const actual = actualEntries(indexes);
  const expected = expectedIn(all, actual);

  const faults = unknown.map((key) => `unknown key ${key}`);
  for (const [entry, score] of expected) {
    if (!actual.has(entry)) faults.push(`missing: ${entry}`);
    else if (score !== null && actual.get(entry) !== score) faults.push(`misplaced: ${entry}`);
  }
  const optional = optionalEntries(jobs);
  for (const [entry, score] of actual) {
    const isOptional = optional.get(entry) === null || optional.get(entry) === score;
    if (!expected.has(entry) && !isOptional) faults.push(`unexpected: ${entry}`);
  }
  faults.push(...callbackFaults(jobs, indexes), ...uniqueFaults(all));
  for (const [id, job] of jobs) {
    const history = histories.get(id) ?? [];
    faults.push(
      ...historyFaults(id, job, history),
      ...placeFaults(id, job, history, all),
      ...runFaults(id, job, indexes),
    );
  }
  return [...faults, ...orphans({ jobs, histories, logged })];
}

/** Find lists without a record: a list must be removed together with its record. */
function orphans({ jobs, histories, logged }: Pick<Dump, 'jobs' | 'histories' | 'logged'>): string[] {
  return [
    ...[...histories.keys()].filter((id) => !jobs.has(id)).map((id) => `events of ${id}, which does not exist`),
    ...logged.filter((id) => !jobs.has(id)).map((id) => `logs of ${id}, which does not exist`),
  ];
}
