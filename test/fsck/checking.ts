import { expect } from '@jest/globals';
import { type Fault, type FsckProgress, fsck } from '@yardmaster/fsck';
import type { Store } from '@yardmaster/store';

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

/** The same faults, repaired. */
export const repaired = (short: Short[]): Short[] => short.map(([kind, id, key]) => [kind, id, key, 'done']);

/**
 * Expect just these faults, that one run repairs them, and that nothing is left then.
 *
 * @param details all their details, if these matter
 * @param later faults that are found only once these are repaired
 * @param titles what was done to a partition, by its tag; a failure shows it together with the fault
 */
export async function expectRepaired(
  store: Store,
  faults: Short[],
  {
    details,
    later = [],
    titles = new Map(),
  }: { details?: string[]; later?: Short[]; titles?: Map<string, string> } = {},
): Promise<void> {
  const titled = (short: Short[]) => short.map((fault) => [titles.get(fault[2].split(':')[0] ?? ''), ...fault]);
  const found = await check(store);
  expect(titled(found.short)).toEqual(titled(faults.sort()));
  if (details) expect(found.faults.map(({ detail }) => detail).sort()).toEqual(details.sort());
  expect(titled((await check(store, true)).short)).toEqual(titled(repaired([...faults, ...later].sort())));
  expect(titled((await check(store, true)).short)).toEqual([]);
}
