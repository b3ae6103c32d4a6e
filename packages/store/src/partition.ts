import { randomFillSync } from 'node:crypto';

/**
 * Partitions the keys are spread over: a space's keys and its jobs share one, and with it one Redis Cluster slot.
 * Written to Redis at first start; another number later would look for jobs where they are not.
 */
export const PARTITIONS = 64;

const tagOf = (partition: number) => partition.toString(16).padStart(2, '0');

/** The tags of all partitions, `00` to `3f`. */
export const PARTITION_TAGS: readonly string[] = Array.from({ length: PARTITIONS }, (_, n) => tagOf(n));

/** Two characters that name the partition of a space: Redis Cluster hash tag and start of every job id. */
export function partitionOf(spaceId: string): string {
  // FNV-1a, 32 bits: spaceId is ASCII, and the hash must never change.
  let hash = 0x811c9dc5;
  for (let i = 0; i < spaceId.length; i++) hash = Math.imul(hash ^ spaceId.charCodeAt(i), 0x01000193);
  return tagOf((hash >>> 0) % PARTITIONS);
}

const ALPHABET = new TextEncoder().encode('abcdefghijklmnopqrstuvwxyz234567');

/** Characters made at once: asking the system for those of one id costs more than all else of it. */
const POOL = Buffer.alloc(8_192);
let used = POOL.length;

/** Lower-case base-32 characters from the system's CSPRNG, 5 bits each. None is given twice. */
export function randomBase32(characters: number): string {
  if (used + characters > POOL.length) {
    randomFillSync(POOL);
    for (let i = 0; i < POOL.length; i++) POOL[i] = ALPHABET[(POOL[i] as number) & 31] as number;
    used = 0;
  }
  used += characters;
  return POOL.toString('latin1', used - characters, used);
}

/** A new job id: its partition, then 130 random bits, since an anonymous stream makes the id a capability. */
export function newJobId(spaceId: string): string {
  return partitionOf(spaceId) + randomBase32(26);
}

const JOB_ID = /^[0-3][0-9a-f][a-z2-7]{26}$/;

/** Whether a text can be the id of a job at all; what cannot is never put into a Redis key. */
export function isJobId(text: string): boolean {
  return JOB_ID.test(text);
}

/** The partition a job's keys are in. */
export function partitionOfJob(jobId: string): string {
  return jobId.slice(0, 2);
}
