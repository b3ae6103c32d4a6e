import { type Fault, type FsckProgress, fsck } from '@yardmaster/fsck';
import type { Store } from '@yardmaster/store';
import { fsck as secondOpinion } from '../support/fsck.js';
import type { TestService } from '../support/service.js';

/** A fault in short: what, which job, which key without the prefix, what became of it. */
export type Short = [kind: string, jobId: string | null, key: string, repair: string];

export interface Found {
  faults: Fault[];
  short: Short[];
  seen: FsckProgress;
}

/**
 * Check a store, and collect the faults that it reports.
 *
 * @param onFault awaited in the middle of it
 */
export async function check(store: Store, isRepairing = false, onFault = async () => {}): Promise<Found> {
  const faults: Fault[] = [];
  const take = (fault: Fault) => {
    faults.push(fault);
    return onFault();
  };
  const seen = await fsck(store, { isRepairing, onFault: take });
  const from = store.settings.keyPrefix.length + 1;
  const short = faults.map(({ kind, jobId, key, repair }): Short => [kind, jobId, key.slice(from), repair]);
  return { faults, short: short.sort(), seen };
}

/** What is wrong by the checker of the tests, which was written before and apart. Only of a quiet Redis. */
export const secondly = ({ redis, prefix }: TestService) => secondOpinion(redis, prefix);

/** The same faults, repaired. */
export const repaired = (short: Short[]): Short[] => short.map(([kind, id, key]) => [kind, id, key, 'done']);
