import { withRedisErrors } from '@yardmaster/redis';
import { PARTITIONS } from './partition.js';
import type { Store } from './store.js';

/** Format of everything that is stored. A process refuses any other. */
export const FORMAT = '1';

/** Error of stored data in another format or layout than this version uses. */
export class FormatError extends Error {
  override readonly name = 'FormatError';
}

/**
 * Check that this version can read and write the stored data.
 *
 * @returns whether the data is marked; false when no process was ever started, or the mark is lost
 * @throws FormatError; UNAVAILABLE
 */
export async function checkFormat({ redis, keys }: Store): Promise<boolean> {
  const [partitions, format] = await withRedisErrors(redis.hmget(keys.meta, 'partitions', 'format'));
  if (partitions === null) return false;
  if (partitions !== String(PARTITIONS))
    throw new FormatError(`Redis contains jobs in ${partitions} partitions; this version uses ${PARTITIONS}`);
  if (format !== FORMAT)
    throw new FormatError(`Redis contains jobs in format ${format ?? 'unknown'}; this version uses ${FORMAT}`);
  return true;
}

/** Mark the data with its layout and format, unless it is marked. @throws UNAVAILABLE, STORAGE_FULL */
export async function markFormat({ redis, keys }: Store): Promise<void> {
  await withRedisErrors(redis.hsetnx(keys.meta, 'format', FORMAT));
  await withRedisErrors(redis.hsetnx(keys.meta, 'partitions', PARTITIONS));
}
