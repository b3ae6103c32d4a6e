import { withRedisErrors } from '@yardmaster/redis';
import type { Store } from './store.js';

/**
 * The highest storage format that this version knows. Only `yardmaster format raise` raises the stored format, once every
 * process is new.
 */
export const FORMAT = 1;

/** Format that an absent `format` means, forever. */
const FIRST_FORMAT = 1;

/** Error of stored data in a format that this release does not know. */
export class FormatError extends Error {
  override readonly name = 'FormatError';

  constructor(found: string, known: number) {
    super(
      `Redis contains jobs in format ${found}, made by a newer release; this release knows formats up to ${known}: use the newer release`,
    );
  }
}

/** Check whether a process was ever started on this Redis with this prefix. */
export const isInUse = async ({ redis, keys }: Store) =>
  (await withRedisErrors(redis.hexists(keys.meta, 'partitions'))) === 1;

/**
 * Read the format of the stored data.
 *
 * @param known the highest that the reader knows
 * @throws FormatError when it is a higher one; UNAVAILABLE
 */
export async function readFormat({ redis, keys }: Store, known = FORMAT): Promise<number> {
  const text = (await withRedisErrors(redis.hget(keys.meta, 'format'))) ?? String(FIRST_FORMAT);
  const format = Number(text);
  if (!(format <= known)) throw new FormatError(text, known); // This is true for text that is no number, too.
  return format;
}

/**
 * Raise the format of the stored data to the highest that this release knows. From then on, earlier releases refuse to
 * start.
 *
 * @returns the format before
 * @throws FormatError when it is a higher one; UNAVAILABLE, STORAGE_FULL
 */
export async function raiseFormat(store: Store, known = FORMAT): Promise<number> {
  const before = await readFormat(store, known);
  if (before < known) await withRedisErrors(store.redis.hset(store.keys.meta, 'format', known));
  return before;
}
