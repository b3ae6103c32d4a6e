import { isJobId } from '@yardmaster/protocol';
import { retryUnavailable, withRedisErrors } from '@yardmaster/redis';
import { checkFormat, STATE_PARTS, type Store, statePartsOf } from '@yardmaster/store';
import { FsckError } from './fsck.js';

/** The unchecked record of a job as Redis has it. All values are texts. */
export interface StoredRecord {
  /** Parts of the state by name; the text of an invalid state; null without a state. */
  state: Record<string, string> | string | null;
  /** All other fields, by name. */
  fields: Record<string, string>;
}

/**
 * Read the record of a job, however damaged it is.
 *
 * @returns null when the job does not exist
 * @throws FsckError when Redis contains no Yardmaster data; FormatError when the stored data has another format;
 *   UNAVAILABLE when Redis stays unavailable
 */
export async function readRecord(store: Store, jobId: string): Promise<StoredRecord | null> {
  const isMarked = await retryUnavailable(() => checkFormat(store));
  const { state, ...fields } = isJobId(jobId) ? await hashOf(store, jobId) : {};
  if (state === undefined && Object.keys(fields).length === 0) {
    if (isMarked) return null;
    const { keyPrefix } = store.settings;
    throw new FsckError(
      `there is no such job, and no Yardmaster data with the prefix ${keyPrefix}: is this the right Redis?`,
    );
  }
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return { state: state === undefined ? null : partsOf(state), fields: Object.fromEntries(sorted) };
}

const hashOf = ({ redis, keys }: Store, jobId: string): Promise<Record<string, string>> =>
  retryUnavailable(() => withRedisErrors(redis.hgetall(keys.job(jobId))));

function partsOf(state: string): Record<string, string> | string {
  const parts = statePartsOf(state);
  if (parts === null) return state;
  return Object.fromEntries(STATE_PARTS.map((name, i) => [name, parts[i] as string]));
}
