import { type NameStats, type SpaceStats, STATUSES, type StatsQuery, type Status } from '@yardmaster/protocol';
import { onBulk, runScript } from '../script/run-script.js';
import { count_jobs, stats } from '../script/scripts.generated.js';
import { type Caller, type Store, tenantOf } from '../store.js';
import { ageSeconds, isoOf } from '../time.js';
import { pausedOf } from './pause/pause.js';

/** Values per name in the script's reply. */
const ROW = 4;

/** Convert a flat list (name, value, …) to pairs. */
const pairsOf = (flat: readonly string[]) =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] as string, flat[2 * i + 1] as string] as const);

/** Compute the age of an order; null for '', which means no job. */
const ageOrNull = (order: string, now: number) => (order === '' ? null : ageSeconds(order, now));

function namesOf(flat: (string | number)[], now: number): NameStats[] {
  return Array.from({ length: flat.length / ROW }, (_, i) => {
    const [name, total, pending, oldest] = flat.slice(i * ROW, (i + 1) * ROW) as [string, string, number, string];
    return {
      name,
      total: Number(total),
      pending: Number(pending),
      oldestPendingAgeSeconds: ageOrNull(oldest, now),
    };
  });
}

/** Maximum number of names per script, so that no other call waits long behind it. */
export const NAMES_AT_ONCE = 100;

/**
 * Count the jobs of a space, at a cost that does not depend on their number. A space that was never used has only zeros.
 * The counts are a snapshot, except those after the first 100 names, which are read slightly later.
 *
 * @param query empty `names` for the `limit` names with the most jobs, 0 for none
 * @throws UNAVAILABLE; OVERLOADED when more than 100 names get no slot in time
 */
export async function getStats(
  store: Store,
  caller: Caller,
  spaceId: string,
  { limit, names }: StatsQuery,
): Promise<SpaceStats> {
  const read = (first: number) =>
    runScript(onBulk(store), stats, {
      keys: { names: store.keys.names(spaceId) },
      args: {
        ...{ base: store.keys.baseOfSpace(spaceId), space: store.keys.spaceBase(spaceId) },
        ...{ first, limit: Math.min(NAMES_AT_ONCE, limit - first) },
      },
      rest: names,
    });
  const reply = await read(0);
  const { at: now, counts, oldest, known } = reply;
  const byName = new Map(namesOf(reply.rows, now).map((row) => [row.name, row]));
  if (names.length === 0 && Math.min(limit, known) > NAMES_AT_ONCE) {
    await store.slots.read(tenantOf(caller, spaceId), async (slot) => {
      for (let first = NAMES_AT_ONCE; first < Math.min(limit, known); first += NAMES_AT_ONCE) {
        slot.check();
        const more = await read(first);
        // A name may have moved to a later place in the meantime.
        for (const row of namesOf(more.rows, more.at)) byName.set(row.name, byName.get(row.name) ?? row);
      }
    });
  }
  const rows = [...byName.values()];
  const paused = pausedOf(pairsOf(reply.paused));
  const { scheduled, ...byStatus } = Object.fromEntries(STATUSES.map((status, i) => [status, counts[i]])) as Record<
    Status,
    number
  >;
  return {
    spaceId,
    timestamp: isoOf(now),
    jobs: { ...(scheduled > 0 && { scheduled }), ...byStatus, total: counts[STATUSES.length] as number },
    oldestPendingAgeSeconds: ageOrNull(oldest, now),
    ...(paused !== undefined && { paused }),
    names: rows,
    namesLeftOut: known - rows.filter(({ total }) => total > 0).length,
  };
}

/** Number of jobs of a space, by status. */
export type StatusCounts = Record<Status, number>;

/**
 * Count the jobs of a space by status, at a cost that does not depend on their number.
 *
 * @returns a snapshot of the counts, and its time: epoch milliseconds by the clock of Redis
 * @throws UNAVAILABLE
 */
export async function countJobs(store: Store, spaceId: string): Promise<{ at: number; counts: StatusCounts }> {
  const { at, counts } = await runScript(store, count_jobs, {
    keys: { jobs: store.keys.jobs(spaceId) },
    args: { space: store.keys.spaceBase(spaceId) },
  });
  return { at, counts: Object.fromEntries(STATUSES.map((status, i) => [status, counts[i]])) as StatusCounts };
}
