import { createHmac, randomFillSync } from 'node:crypto';
import type { Status } from '@yardmaster/protocol';

/** Streams of the audit. Acts on keys, settings and secrets have their own, so that none on jobs pushes them out. */
export const AUDIT_STREAMS = ['keys', 'jobs'] as const;
export type AuditStream = (typeof AUDIT_STREAMS)[number];

/**
 * Build every Redis key and channel of the service. `{pp}` is the partition's hash tag. `/` ends the space id, which
 * cannot contain one. With `:`, the queue of space `a` for `jobs` would have the same key as the jobs of a space named
 * `a:queue`: `…a:queue:jobs`.
 *
 * | key | type | members | written by | goes |
 * |---|---|---|---|---|
 * | `ym:meta` | hash | partitions; format, see prepare.ts; idempotencySecret | first start | never |
 * | `ym:clock` | string | epoch ms, only where the clock is manual | first start; `POST /test/clock` | never |
 * | `ym:{pp}:job:<id>` | hash | the record, see record.ts | every transition | purge |
 * | `ym:{pp}:job:<id>:events` | list | `[type, ms, data]`, see lua/history.lua | events, once one does not follow from the record | purge |
 * | `ym:{pp}:job:<id>:logs` | list | `[ms, level, message, …]`, see logs.ts | append | purge |
 * | `ym:{pp}:space:<s>/jobs` | zset | job id by creation order | create | purge |
 * | `ym:{pp}:space:<s>/status/<status>` | zset | job id by creation order | every transition | purge |
 * | `ym:{pp}:space:<s>/tag/<tag>` | zset | job id by creation order | create, copy | replacement, delete, purge |
 * | `ym:{pp}:space:<s>/queue` | zset | claimable job id by claim order | create, retry, timeout, promotion, requeue | poll, claim, kill |
 * | `ym:{pp}:space:<s>/queue/<name>` | zset | claimable job id of this name, by claim order | as above | as above |
 * | `ym:{pp}:space:<s>/names` | zset | job name by the number of its jobs, whatever their status | create | purge of its last job |
 * | `ym:{pp}:space:<s>/unique` | hash | `<bytes of name>:<name><key>` → id of the job that occupies the unique key | create | ack, end, purge |
 * | `ym:{pp}:space:<s>/paused` | hash | name of paused jobs, or empty for the whole space → state, see lua/waiting/paused.lua | pause, resume, requeueResumed | resume |
 * | `ym:{pp}:space:<s>/bytes` | hash | sums of the bytes of its jobs, see lua/bytes; only with `maxBytes` | change of settings, whatever changes a job, recount | change of settings |
 * | `ym:{pp}:space:<s>/history/<step>/<start>` | hash | job name → its counts in the minute or hour that begins at `start`, epoch seconds; see history/counter.ts | flush of a process | 48 hours (minutes) or 35 days (hours) after its last change, sooner beyond 8 MB; purge of its last job |
 * | `ym:{pp}:space:<s>/history/points` | hash | the points of the history by their bytes, and the sum, see lua/space_history.lua | flush of a process | 35 days after its last change; purge of its last job |
 * | `ym:{pp}:space:<s>/history/names` | zset | job name by epoch seconds at which it was first counted in its latest hour | flush of a process | as the points |
 * | `ym:{pp}:counted:<process>` | string | number of the last step of counts that was added of a process | flush of a process | a day later |
 * | `ym:{pp}:spaces` | zset | space id by its last order score | create, retry | purge of its last job |
 * | `ym:{pp}:deadlines` | zset | job id by epoch ms at which something is due | transitions | transitions, expiry |
 * | `ym:{pp}:due` | zset | job id by epoch ms at which it becomes claimable, or its time to start is over | create, retry, release, reschedule, requeue | ack, kill, promotion |
 * | `ym:{pp}:pauses` | zset | space id by epoch ms at which a sweep looks after its paused and resumed names | pause, resume, requeueResumed | requeueResumed |
 * | `ym:{pp}:recounts` | zset | space id by epoch ms at which a sweep measures all of its jobs | change of settings, recount | change of settings |
 * | `ym:{pp}:settings` | hash | space id → its settings, see storedSettings, also without jobs; empty → version of the hash | change of settings | change that sets all back; the version never |
 * | `ym:{pp}:stepped` | string | epoch ms at which a scheduler noticed that Redis' clock had stepped forward | scheduler | never |
 * | `ym:{pp}:barrier` | string | empty; a write to it lets WAIT cover what other connections wrote before | calls with DURABILITY=replicated | 30 days after the last of them |
 * | `ym:{pp}:callbacks` | zset | job id by epoch ms at which the relay looks | end of a job, each attempt | final outcome |
 * | `ym:{pp}:operations` | zset | id of a running operation by epoch ms of the last step of its space | start, each step | end |
 * | `ym:{pp}:operation:<id>` | hash | the record, see operations/record.ts | start, each step, cancel | 30 days after its start, or once the space has 100 newer ones |
 * | `ym:{pp}:space:<s>/operations` | zset | operation id by epoch ms of its start | start | as its operations |
 * | `ym:{keys}:records` | hash | API key id → JSON | key administration | revocation, removal an hour after its expiry |
 * | `ym:{keys}:index` | zset | `/<id>` of each API key, and `<space>/<id>` of one that is bound to a space, in the order of their texts | as its record | as its record |
 * | `ym:{keys}:children` | zset | `<id of an API key>/<id of a key that it made>/<space of that one>`, in the order of their texts | as the record of the second | as the record of either, except that the first may be revoked before the second |
 * | `ym:{keys}:revoking` | set | id of a revoked API key of which keys are left that must be revoked as well | revocation | revocation of the last of these |
 * | `ym:{keys}:used` | hash | API key id → epoch ms of its last use | each process of the API and the gateway, once a minute | as its record |
 * | `ym:{audit}:keys`, `ym:{audit}:jobs` | stream | acts of operators, 10,000 of each stream: see audit/acts.ts | each act | never |
 * | `ym:{audit}:jobs/of/<owner>`, and of `keys` | zset | ids of the entries of an owner in the stream, by time | each act | with its entries |
 * | `ym:{audit}:jobs/owners`, and of `keys` | zset | owner by the number of its entries in the stream | each act | never |
 * | `ym:{bull}:*` | BullMQ's | the scheduler's ticks and retries of callbacks, all of which may be lost | scheduler | BullMQ |
 */
export function keyMap(prefix: string) {
  const base = (partition: string) => `${prefix}:{${partition}}:`;
  const space = (spaceId: string) => `${base(partitionOf(spaceId))}space:${spaceId}/`;
  return {
    /** Prefix of every key of a partition. */
    baseOf: base,
    /** Key of the barrier in the slot of a key of a partition. */
    barrierFor: (key: string) => `${key.slice(0, key.indexOf('}'))}}:barrier`,
    spaces: (partition: string) => `${base(partition)}spaces`,
    deadlines: (partition: string) => `${base(partition)}deadlines`,
    due: (partition: string) => `${base(partition)}due`,
    pauses: (partition: string) => `${base(partition)}pauses`,
    recounts: (partition: string) => `${base(partition)}recounts`,
    settings: (partition: string) => `${base(partition)}settings`,
    stepped: (partition: string) => `${base(partition)}stepped`,
    /** Running operations. */
    operations: (partition: string) => `${base(partition)}operations`,
    operation: (operationId: string) => `${base(partitionOfJob(operationId))}operation:${operationId}`,
    operationsOf: (spaceId: string) => `${space(spaceId)}operations`,
    callbacks: (partition: string) => `${base(partition)}callbacks`,
    /** Prefix of every key of a job's partition. */
    baseOfJob: (jobId: string) => base(partitionOfJob(jobId)),
    baseOfSpace: (spaceId: string) => base(partitionOf(spaceId)),
    job: (jobId: string) => `${base(partitionOfJob(jobId))}job:${jobId}`,
    /** Prefix of every key of a space. */
    spaceBase: space,
    jobs: (spaceId: string) => `${space(spaceId)}jobs`,
    jobsByStatus: (spaceId: string, status: Status) => `${space(spaceId)}status/${status}`,
    jobsByTag: (spaceId: string, tag: string) => `${space(spaceId)}tag/${tag}`,
    queue: (spaceId: string) => `${space(spaceId)}queue`,
    queueOf: (spaceId: string, name: string) => `${space(spaceId)}queue/${name}`,
    names: (spaceId: string) => `${space(spaceId)}names`,
    unique: (spaceId: string) => `${space(spaceId)}unique`,
    paused: (spaceId: string) => `${space(spaceId)}paused`,
    bytes: (spaceId: string) => `${space(spaceId)}bytes`,
    /** Prefix of the points of a history, by their beginnings. @param step 60 or 3600, in seconds */
    history: (spaceId: string, step: number) => `${space(spaceId)}history/${step}/`,
    counted: (partition: string, process: string) => `${base(partition)}counted:${process}`,
    /** Prefix of every key of BullMQ, without the `:` after it. */
    bull: `${prefix}:{bull}`,
    /** Channel: a callback of this partition is pending. */
    pendingChannel: (partition: string) => `${base(partition)}pending`,
    /** Channels, not keys: PublishedMessage as JSON. */
    jobChannel: (jobId: string) => `${base(partitionOfJob(jobId))}stream:job:${jobId}`,
    spaceChannel: (spaceId: string) => `${base(partitionOf(spaceId))}stream:space:${spaceId}`,
    /** Channel: the name of a job of this space that can be claimed now; empty for jobs of any name. */
    wakeChannel: (spaceId: string) => `${base(partitionOf(spaceId))}wake:${spaceId}`,
    meta: `${prefix}:meta`,
    manualClock: `${prefix}:clock`,
    apiKeys: `${prefix}:{keys}:records`,
    apiKeyIndex: `${prefix}:{keys}:index`,
    apiKeyChildren: `${prefix}:{keys}:children`,
    revoking: `${prefix}:{keys}:revoking`,
    /** Channel: the partition of a space whose settings have just changed. */
    settingsChannel: `${prefix}:{settings}:changed`,
    keyUses: `${prefix}:{keys}:used`,
    /** With a hash tag, as the first key of each script must have: see run-script.ts. */
    audit: (stream: AuditStream) => `${prefix}:{audit}:${stream}`,
    /**
     * Channel: the ids of API keys that were just revoked, with commas in between; or, after a rotation, the id, a blank,
     * and the number of the oldest secret that is still accepted.
     */
    revocations: `${prefix}:{keys}:revoked`,
  };
}

export type KeyMap = ReturnType<typeof keyMap>;

/**
 * Return the presence channel of a channel of events. Scripts publish the events of a partition only while its presence
 * channel has subscribers, so subscribe to it first, see lua/publish.lua. Nothing is sent on it.
 *
 * @returns null for another channel
 */
export const presenceChannelOf = (channel: string): string | null => {
  const base = /^.*\}:(?=stream:)/.exec(channel)?.[0];
  return base === undefined ? null : `${base}watched`;
};

/**
 * Number of partitions into which the keys are divided. A space's keys and its jobs share one, and with it one slot of
 * a Redis cluster. It is written to Redis at the first start, because with another number later, jobs would be searched
 * in the wrong partition.
 */
export const PARTITIONS = 64;

const tagOf = (partition: number) => partition.toString(16).padStart(2, '0');

/** The tags of all partitions, `00` to `3f`. */
export const PARTITION_TAGS: readonly string[] = Array.from({ length: PARTITIONS }, (_, n) => tagOf(n));

/**
 * Return two characters that name the partition of a space: the hash tag in a Redis cluster and the start of every job
 * id.
 */
export function partitionOf(spaceId: string): string {
  // FNV-1a, 32 bits: spaceId is ASCII, and the hash must never change.
  let hash = 0x811c9dc5;
  for (let i = 0; i < spaceId.length; i++) hash = Math.imul(hash ^ spaceId.charCodeAt(i), 0x01000193);
  return tagOf((hash >>> 0) % PARTITIONS);
}

const ALPHABET = new TextEncoder().encode('abcdefghijklmnopqrstuvwxyz234567');

/** Characters made at once, because asking the system for those of one id costs more than all the rest of the id. */
const POOL = Buffer.alloc(8_192);
let used = POOL.length;

/** Return lower-case base-32 characters from the system's CSPRNG, 5 bits each. No bits are used twice. */
export function randomBase32(characters: number): string {
  if (used + characters > POOL.length) {
    randomFillSync(POOL);
    for (let i = 0; i < POOL.length; i++) POOL[i] = ALPHABET[(POOL[i] as number) & 31] as number;
    used = 0;
  }
  used += characters;
  return POOL.toString('latin1', used - characters, used);
}

/** Characters of a job id after its partition. */
const ID_CHARACTERS = 26;

/** Create a job id (see `JOB_ID`): its partition, then 130 random bits, because an anonymous stream makes the id a capability. */
export const newJobId = (spaceId: string): string => newJobIdIn(partitionOf(spaceId));

/** Create the id of a job of any space of a partition. */
export const newJobIdIn = (partition: string): string => partition + randomBase32(ID_CHARACTERS);

/** Create the id of an API key: the time of its creation, epoch milliseconds, so that ids sort by it, and 55 random bits. */
export const newKeyId = (now: number): string => now.toString(36).padStart(9, '0') + randomBase32(11);

/**
 * Return the id of the job that an idempotency key names in a space: the same key always names the same job.
 *
 * @param index of the job in a call that creates several; `operation` for an operation
 * @see docs/decisions/047-keyed-ids.md
 */
export function keyedJobId(secret: Buffer, spaceId: string, key: string, index: number | 'operation' = 0): string {
  const digest = createHmac('sha256', secret).update(`${spaceId}\0${key}\0${index}`).digest();
  return partitionOf(spaceId) + base32(digest, ID_CHARACTERS);
}

/** Write the first bits of some bytes in base 32. */
function base32(bytes: Buffer, characters: number): string {
  let text = '';
  for (let bit = 0; text.length < characters; bit += 5) {
    const pair = ((bytes[bit >> 3] as number) << 8) | (bytes[(bit >> 3) + 1] ?? 0);
    text += String.fromCharCode(ALPHABET[(pair >> (11 - (bit & 7))) & 31] as number);
  }
  return text;
}

/** Return the partition that contains a job's keys. */
export function partitionOfJob(jobId: string): string {
  return jobId.slice(0, 2);
}
