import { createHmac, randomFillSync } from 'node:crypto';
import type { Status } from '@yardmaster/protocol';

/** Streams of the audit. Acts on keys, settings and secrets have their own, so that acts on jobs cannot push them out. */
export const AUDIT_STREAMS = ['keys', 'jobs'] as const;
export type AuditStream = (typeof AUDIT_STREAMS)[number];

/**
 * Build every Redis key and channel of the service. `{pp}` is the partition's hash tag. A space ID ends with `/`, which it
 * cannot contain. With `:`, the queue of space `a` for the name `jobs` would have the same key as the jobs of a space
 * named `a:queue`: `…a:queue:jobs`.
 *
 * | key | type | members | written by | removed by |
 * |---|---|---|---|---|
 * | `ym:meta` | hash | partitions; format; see prepare.ts; idempotencySecret | first start | never |
 * | `ym:clock` | string | epoch ms; only with a manual clock | first start, `POST /test/clock` | never |
 * | `ym:{pp}:job:<id>` | hash | the record; see record.ts | every transition | purge |
 * | `ym:{pp}:job:<id>:events` | list | `[type, ms, data]`; see lua/history.lua | events, from the first one not implied by the record | purge |
 * | `ym:{pp}:job:<id>:logs` | list | `[ms, level, message, …]`; see logs.ts | append | purge |
 * | `ym:{pp}:space:<s>/jobs` | zset | job ID by creation order | create | purge |
 * | `ym:{pp}:space:<s>/status/<status>` | zset | job ID by creation order | every transition | every transition, purge |
 * | `ym:{pp}:space:<s>/tag/<tag>` | zset | job ID by creation order, also for the label of a schedule; see jobs/labels.ts | create, copy | replacement, delete, purge |
 * | `ym:{pp}:space:<s>/queue` | zset | ID of a claimable job by claim order minus priority | create, retry, timeout, promotion, requeue | poll, claim, kill |
 * | `ym:{pp}:space:<s>/queue/<name>` | zset | the same for one job name | as above | as above |
 * | `ym:{pp}:space:<s>/names` | zset | job name by the number of its jobs in any status | create | purge of its last job |
 * | `ym:{pp}:space:<s>/unique` | hash | `<bytes of name>:<name><key>` → ID of the job that occupies the unique key | create, requeue | ack, end, purge |
 * | `ym:{pp}:space:<s>/paused` | hash | paused job name, or empty for the whole space → state; see lua/waiting/paused.lua | pause, resume, requeueResumed | resume, requeueResumed |
 * | `ym:{pp}:space:<s>/bytes` | hash | sums of the bytes of its jobs; see lua/bytes; only with `maxBytes` | change of settings, any change of a job, recount | change of settings |
 * | `ym:{pp}:space:<s>/history/<step>/<start>` | hash | job name → its counts in the minute or hour that begins at `start`, epoch seconds; see history/counter.ts | flush of a process | 48 hours (minutes) or 35 days (hours) after its last change, sooner beyond 8 MB; purge of the last job |
 * | `ym:{pp}:space:<s>/history/points` | hash | bytes of each point of the history, and their sum; see lua/space_history.lua | flush of a process | 35 days after its last change; purge of the last job |
 * | `ym:{pp}:space:<s>/history/names` | zset | job name by epoch seconds at which it was first counted in its latest hour | flush of a process | as `history/points` |
 * | `ym:{pp}:counted:<process>` | string | number of the last step of counts added for a process | flush of a process | expiry after a day |
 * | `ym:{pp}:spaces` | zset | space ID by its last order | create, retry | purge of its last job |
 * | `ym:{pp}:deadlines` | zset | job ID by epoch ms at which its window or its retention ends | transitions | transitions, expiry |
 * | `ym:{pp}:due` | zset | job ID by epoch ms at which the job becomes claimable, or its start limit ends | create, retry, release, reschedule, requeue | ack, kill, promotion |
 * | `ym:{pp}:pauses` | zset | space ID by epoch ms of the next sweep over its paused and resumed names | pause, resume, requeueResumed | requeueResumed |
 * | `ym:{pp}:recounts` | zset | space ID by epoch ms of the next step of its recount | change of settings, recount | change of settings |
 * | `ym:{pp}:settings` | hash | space ID → its settings, even without jobs; see storedSettings; empty → version of the hash | change of settings | change back to all defaults; the version never |
 * | `ym:{pp}:stepped` | string | epoch ms at which a scheduler noticed that the clock of Redis had stepped forward | scheduler | never |
 * | `ym:{pp}:barrier` | string | empty; after a write to it, WAIT covers the earlier writes of other connections | calls with DURABILITY=replicated | expiry 30 days after the last call |
 * | `ym:{pp}:callbacks` | zset | job ID by epoch ms of the relay's next check | end of a job, each attempt | final outcome, delete, requeue |
 * | `ym:{pp}:operations` | zset | ID of a running operation by epoch ms of the last step of its space | start, each step | end |
 * | `ym:{pp}:operation:<id>` | hash | the record; see operations/record.ts | start, each step, cancel | expiry 30 days after its start; start, once the space has 100 newer ones |
 * | `ym:{pp}:space:<s>/operations` | zset | operation ID by epoch ms of its start | start | as its operations |
 * | `ym:{pp}:schedules` | zset | `<space>/<id>` of each schedule that has a next time, by epoch ms at which it fires | change of a schedule, each fire | pause or delete of the schedule; its last time |
 * | `ym:{pp}:schedule:<s>/<id>` | hash | the record; see schedules/record.ts | change of the schedule, each fire, run on demand | delete of the schedule |
 * | `ym:{pp}:space:<s>/schedules` | zset | schedule ID by its place, which is unique: 1,024 times the epoch ms of its creation, or more | creation of a schedule | delete of the schedule |
 * | `ym:{keys}:records` | hash | API key ID → JSON | creation, rotation | revocation; cleanup within an hour after its expiry |
 * | `ym:{keys}:index` | zset | `/<id>` of each API key, and `<space>/<id>` of a key bound to a space, in lexical order | creation | as its record |
 * | `ym:{keys}:children` | zset | `<id of an API key>/<id of a key that it made>/<space of that key>`, in lexical order | creation of the second key | revocation of the second key; revocation of the first that keeps the keys it made |
 * | `ym:{keys}:revoking` | set | ID of a revoked API key that made keys which must still be revoked | revocation | revocation of the last of these |
 * | `ym:{keys}:used` | hash | API key ID → epoch ms of its last use | every API and gateway process, once a minute | as its record |
 * | `ym:{audit}:keys`, `ym:{audit}:jobs` | stream | acts, up to 10,000 per stream; see audit/acts.ts | each act | never |
 * | `ym:{audit}:jobs/of/<owner>`, and for `keys` | zset | IDs of an owner's entries in the stream, by time | each act | with its last entry |
 * | `ym:{audit}:jobs/owners`, and for `keys` | zset | owner by the number of its entries in the stream | each act | with its last entry |
 * | `ym:{bull}:*` | BullMQ's | the scheduler's ticks and callback retries, all of which can be lost | scheduler | BullMQ |
 */
export function keyMap(prefix: string) {
  const base = (partition: string) => `${prefix}:{${partition}}:`;
  const space = (spaceId: string) => `${base(partitionOf(spaceId))}space:${spaceId}/`;
  return {
    /** Prefix of every key of a partition. */
    baseOf: base,
    /** Barrier in the same slot as a key of a partition. */
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
    /** Schedules that have a next time. */
    schedules: (partition: string) => `${base(partition)}schedules`,
    schedule: (spaceId: string, id: string) => `${base(partitionOf(spaceId))}schedule:${spaceId}/${id}`,
    schedulesOf: (spaceId: string) => `${space(spaceId)}schedules`,
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
    /** Prefix of the points of a history; the start of a point follows. @param step 60 or 3600, in seconds */
    history: (spaceId: string, step: number) => `${space(spaceId)}history/${step}/`,
    counted: (partition: string, process: string) => `${base(partition)}counted:${process}`,
    /** Prefix of every BullMQ key, without the `:` after it. */
    bull: `${prefix}:{bull}`,
    /** Channel: a callback of this partition is pending. */
    pendingChannel: (partition: string) => `${base(partition)}pending`,
    /** Channels with events, each a PublishedMessage as JSON. */
    jobChannel: (jobId: string) => `${base(partitionOfJob(jobId))}stream:job:${jobId}`,
    spaceChannel: (spaceId: string) => `${base(partitionOf(spaceId))}stream:space:${spaceId}`,
    /** Channel: the name of a job that has become claimable in this space; empty for any name. */
    wakeChannel: (spaceId: string) => `${base(partitionOf(spaceId))}wake:${spaceId}`,
    meta: `${prefix}:meta`,
    manualClock: `${prefix}:clock`,
    apiKeys: `${prefix}:{keys}:records`,
    apiKeyIndex: `${prefix}:{keys}:index`,
    apiKeyChildren: `${prefix}:{keys}:children`,
    revoking: `${prefix}:{keys}:revoking`,
    /** Channel: the partition of a space whose settings have changed. */
    settingsChannel: `${prefix}:{settings}:changed`,
    keyUses: `${prefix}:{keys}:used`,
    /** Stream of the audit. It has a hash tag, like the first key of every script; see run-script.ts. */
    audit: (stream: AuditStream) => `${prefix}:{audit}:${stream}`,
    /**
     * Channel: after a revocation, the IDs of the revoked API keys, separated by commas; after a rotation, the ID, a blank,
     * and the number of the oldest secret that is still accepted.
     */
    revocations: `${prefix}:{keys}:revoked`,
  };
}

export type KeyMap = ReturnType<typeof keyMap>;

/**
 * Return the presence channel for a channel of events. Scripts publish the events of a partition only while its presence
 * channel has subscribers, so subscribe to it first; see lua/publish.lua. Nothing is ever sent on it.
 *
 * @returns null for another channel
 */
export const presenceChannelOf = (channel: string): string | null => {
  const base = /^.*\}:(?=stream:)/.exec(channel)?.[0];
  return base === undefined ? null : `${base}watched`;
};

/**
 * Number of partitions. All keys of a space share one partition, and with it one slot of a Redis cluster. The number is
 * stored at the first start, because with another number, jobs would be looked up in the wrong partition.
 */
export const PARTITIONS = 64;

const tagOf = (partition: number) => partition.toString(16).padStart(2, '0');

/** Tags of all partitions, `00` to `3f`. */
export const PARTITION_TAGS: readonly string[] = Array.from({ length: PARTITIONS }, (_, n) => tagOf(n));

/**
 * Return the tag of a space's partition: two characters that are the hash tag in a Redis cluster and the start of every
 * job ID.
 */
export function partitionOf(spaceId: string): string {
  // FNV-1a with 32 bits. A space ID is ASCII. The hash must never change.
  let hash = 0x811c9dc5;
  for (let i = 0; i < spaceId.length; i++) hash = Math.imul(hash ^ spaceId.charCodeAt(i), 0x01000193);
  return tagOf((hash >>> 0) % PARTITIONS);
}

const ALPHABET = new TextEncoder().encode('abcdefghijklmnopqrstuvwxyz234567');

/** Random characters are drawn in bulk, because a system call per ID would cost more than the rest of the ID. */
const POOL = Buffer.alloc(8_192);
let used = POOL.length;

/** Draw lowercase base-32 characters from the system's CSPRNG, 5 bits each. No bits are used twice. */
export function randomBase32(characters: number): string {
  if (used + characters > POOL.length) {
    randomFillSync(POOL);
    for (let i = 0; i < POOL.length; i++) POOL[i] = ALPHABET[(POOL[i] as number) & 31] as number;
    used = 0;
  }
  used += characters;
  return POOL.toString('latin1', used - characters, used);
}

/** Characters of a job ID after its partition. */
const ID_CHARACTERS = 26;

/** Create a job ID: its partition and 130 random bits, because with anonymous streams the ID is a capability. */
export const newJobId = (spaceId: string): string => newJobIdIn(partitionOf(spaceId));

/** Create a job ID for any space of a partition. */
export const newJobIdIn = (partition: string): string => partition + randomBase32(ID_CHARACTERS);

/** Create the ID of an API key: its creation time in epoch milliseconds, by which IDs sort, and 55 random bits. */
export const newKeyId = (now: number): string => now.toString(36).padStart(9, '0') + randomBase32(11);

/**
 * Derive the job ID for an idempotency key in a space. The same key always gives the same ID.
 *
 * @param index position of the job in a call that creates several; `operation` for an operation; `schedule` for a run of a
 *   schedule, whose key is its ID and time
 * @see docs/decisions/047-keyed-ids.md
 */
export function keyedJobId(
  secret: Buffer,
  spaceId: string,
  key: string,
  index: number | 'operation' | 'schedule' = 0,
): string {
  const digest = createHmac('sha256', secret).update(`${spaceId}\0${key}\0${index}`).digest();
  return partitionOf(spaceId) + base32(digest, ID_CHARACTERS);
}

/** Encode the first bits of some bytes in base 32. */
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
