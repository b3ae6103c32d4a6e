import { keyLocationsOf, primariesOf, retryUnavailable, withRedisErrors } from '@yardmaster/redis';
import { checkFormat, markFormat, PARTITIONS, type Store } from '@yardmaster/store';
import type { Seen } from './check-keys.js';
import { type CheckContext, type Fault, faultOf, type Portion } from './faults.js';
import { steps } from './steps.js';

/** Progress of a check. */
export interface FsckProgress extends Seen {
  /** Keys in Redis when the check began, including those of other programs. */
  keysInAll: number;
}

export interface FsckOptions {
  /** Repair the faults that can be repaired. Default: nothing is written. */
  isRepairing?: boolean;
  /** Called once for each fault as it is found. Awaited, so that a slow reader does not fill the memory. */
  onFault: (fault: Fault) => unknown;
  onProgress?: (progress: FsckProgress) => void;
  /** Stops the check early, between two steps. */
  signal?: AbortSignal;
}

/** Redis cannot be checked: it contains no Yardmaster data, or its layout has changed. */
export class FsckError extends Error {
  override readonly name = 'FsckError';
}

/**
 * Number of faults to remember, so that each is reported once, because SCAN can return a key twice. Beyond this number, a
 * fault may be reported twice.
 */
const REMEMBERED = 10_000;

/**
 * Check the consistency of all stored data, on a live system. The record of each job is compared with all indexes and its
 * history in one snapshot, so that work in progress is not reported as a fault. One step keeps Redis busy for at most about
 * 2 ms, and memory does not grow with the stored data.
 *
 * Jobs created in the meantime may be missed.
 *
 * @returns the numbers of checked keys, jobs and entries
 * @throws FsckError; FormatError when the stored data has another format; UNAVAILABLE when Redis stays unavailable
 */
export async function fsck(store: Store, options: FsckOptions): Promise<FsckProgress> {
  const { isRepairing = false, onFault, onProgress, signal } = options;
  const checked: CheckContext = { store, isRepairing };
  // This comes first, because a cluster client knows no server until its first command succeeds.
  const isMarked = await retryUnavailable(() => checkFormat(store));
  const holders = await keyLocationsOf(store.redis);
  const progress: FsckProgress = {
    keys: 0,
    jobs: 0,
    entries: 0,
    spaces: 0,
    uncounted: 0,
    apiKeys: 0,
    keysInAll: await keysInAll(store),
  };
  const reported = new Set<string>();

  const take = async (of: keyof Seen, { seen, faults }: Portion) => {
    progress[of] += seen;
    for (const fault of faults) {
      const identity = JSON.stringify([fault.kind, fault.jobId, fault.key, fault.detail]);
      if (reported.has(identity)) continue;
      if (reported.size < REMEMBERED) reported.add(identity);
      await onFault(fault);
    }
    onProgress?.(progress);
  };
  for await (const { of, ...portion } of steps(checked)) {
    await take(of, portion);
    if (signal?.aborted) return progress;
  }

  if (progress.keys === 0) {
    throw new FsckError(`there are no keys with the prefix ${store.settings.keyPrefix}: is this the right Redis?`);
  }
  if (!isMarked) await take('keys', { seen: 0, faults: [await writeMark(checked)] });
  if (holders !== (await keyLocationsOf(store.redis))) {
    throw new FsckError('keys moved to another server during the check, so some may have been missed; run fsck again');
  }
  return progress;
}

async function keysInAll(store: Store): Promise<number> {
  const sizes = await Promise.all(
    primariesOf(store.redis).map((primary) => retryUnavailable(() => withRedisErrors(primary.dbsize()))),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function writeMark({ store, isRepairing }: CheckContext): Promise<Fault> {
  const { meta } = store.keys;
  const at = { jobId: null, key: meta, detail: `it should be ${PARTITIONS}` };
  if (!isRepairing) return faultOf('partitions_missing', at, '');
  try {
    await retryUnavailable(() => markFormat(store));
    return faultOf('partitions_missing', at, 'repaired');
  } catch (error) {
    return faultOf('partitions_missing', at, String((error as Error).cause ?? error)); // For example, Redis is full.
  }
}
