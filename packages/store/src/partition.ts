import { createHmac, randomFillSync } from 'node:crypto';

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

/**
 * Return the id of the job that an idempotency key names in a space: the same key always names the same job.
 *
 * @param index of the job in a call that creates several; `operation` for an operation
 * @see docs/architecture.md
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
