import { asked } from './redis-errors.js';
import type { Store } from './store.js';

/**
 * The highest format of what is stored that this release knows. It serves the one before as well, so that releases can
 * be upgraded one process at a time; only `yardmaster format raise` raises what is stored, once every process is new.
 */
export const FORMAT = 1;

/** What an absent `format` means, for ever. */
const FIRST_FORMAT = 1;

/** What is stored is in a format that this release does not know. */
export class FormatError extends Error {
  override readonly name = 'FormatError';

  constructor(found: string, known: number) {
    super(
      `Redis holds jobs in format ${found}, made by a newer release; this release knows formats up to ${known}: use the newer release`,
    );
  }
}

/** Whether a process was ever started on this Redis with this prefix. */
export const isInUse = async ({ redis, keys }: Store) => (await asked(redis.hexists(keys.meta, 'partitions'))) === 1;

/**
 * Read the format of what is stored.
 *
 * @param known the highest that the reader knows
 * @throws FormatError when it is a higher one; UNAVAILABLE
 */
export async function readFormat({ redis, keys }: Store, known = FORMAT): Promise<number> {
  const text = (await asked(redis.hget(keys.meta, 'format'))) ?? String(FIRST_FORMAT);
  const format = Number(text);
  if (!(format <= known)) throw new FormatError(text, known); // Also what is no number.
  return format;
}

/**
 * Raise the format of what is stored to the highest that this release knows. From then on earlier releases refuse to start.
 *
 * @returns the format before
 * @throws FormatError when it is a higher one; UNAVAILABLE, STORAGE_FULL
 */
export async function raiseFormat(store: Store, known = FORMAT): Promise<number> {
  const before = await readFormat(store, known);
  if (before < known) await asked(store.redis.hset(store.keys.meta, 'format', known));
  return before;
}
