import { membersOf, retryUnavailable } from '@yardmaster/redis';
import { runScript } from '@yardmaster/store';
import { type CheckContext, type Fault, faultOf, repairFlagOf } from '../faults.js';
import { check_names, count_names } from '../scripts.generated.js';

/** Jobs per script. */
const JOBS_AT_ONCE = 100;

/** Name counts per script. */
const NAMES_AT_ONCE = 50;

/** How often to try counting a space whose jobs are purged in the meantime. */
const ATTEMPTS = 5;

/** Counts of a space up to a job. Its size depends on the number of names, not of jobs. */
interface Count {
  afterOrder: string;
  counted: number;
  byName: Map<string, number>;
}

/**
 * Count the jobs of a space by name, and compare the counts with those stored. The indexes of the space must be sound.
 *
 * @returns null when jobs were purged too fast to count them
 */
export async function checkNames(checked: CheckContext, spaceId: string): Promise<Fault[] | null> {
  const faults: Fault[] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (await compare(checked, spaceId, await count(checked, spaceId), faults)) return faults;
  }
  return faults.length > 0 ? faults : null;
}

/** Read the names of the jobs of a space and their counted bytes, oldest first. */
export async function* pagesOf({ store }: CheckContext, spaceId: string) {
  const { keys } = store;
  for (let afterOrder = '-inf', isMore = true; isMore; ) {
    const page = await retryUnavailable(() =>
      runScript(store, count_names, {
        keys: { jobs: keys.jobs(spaceId) },
        args: { base: keys.baseOfSpace(spaceId), afterOrder, limit: JOBS_AT_ONCE },
      }),
    );
    yield page;
    afterOrder = page.lastOrder;
    isMore = page.counted === JOBS_AT_ONCE;
  }
}

async function count(checked: CheckContext, spaceId: string): Promise<Count> {
  const { store } = checked;
  const all: Count = { afterOrder: '-inf', counted: 0, byName: new Map() };
  for await (const { counted, lastOrder, names } of pagesOf(checked, spaceId)) {
    for (const name of names) all.byName.set(name, (all.byName.get(name) ?? 0) + 1);
    all.counted += counted;
    all.afterOrder = lastOrder;
  }
  // Add names that have a count but no job.
  for await (const names of membersOf(store.redis, store.keys.names(spaceId))) {
    for (const name of names) if (!all.byName.has(name)) all.byName.set(name, 0);
  }
  return all;
}

/** Compare the counts with those stored, and return whether all could be compared. */
async function compare(
  checked: CheckContext,
  spaceId: string,
  { afterOrder, counted, byName }: Count,
  faults: Fault[],
): Promise<boolean> {
  const { store } = checked;
  const key = store.keys.names(spaceId);
  const counts = [...byName];
  for (let i = 0; i < counts.length; i += NAMES_AT_ONCE) {
    const reply = await retryUnavailable(() =>
      runScript(store, check_names, {
        keys: { names: key },
        args: {
          base: store.keys.baseOfSpace(spaceId),
          space: spaceId,
          isRepairing: repairFlagOf(checked),
          afterOrder,
          counted,
        },
        rest: counts.slice(i, i + NAMES_AT_ONCE).flat(),
      }),
    );
    if (reply.outcome === 'CHANGED') return false;
    for (let n = 0; n < reply.wrong.length; n += 4) {
      const [name, kept, right, outcome] = reply.wrong.slice(n, n + 4) as [string, string, string, string];
      faults.push(
        faultOf('name_count_wrong', { jobId: null, key, detail: `${name}: ${kept} instead of ${right}` }, outcome),
      );
    }
  }
  return true;
}
