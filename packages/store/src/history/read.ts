import { type HistoryQuery, invalidRequest, LIMITS, type NameHistory, type SpaceHistory } from '@yardmaster/protocol';
import { onBulk, runScript } from '../script/run-script.js';
import { read_history } from '../script/scripts.generated.js';
import { type Caller, type Store, tenantOf } from '../store.js';
import { isoOf, redisNow } from '../time.js';
import { BUCKET_SECONDS, type Cell, COUNTERS, cellOfText, DURATIONS } from './counter.js';

/** Points per script. */
const PORTION = 60;

/**
 * Read the history of a space by minute or by hour. The counts of the last few seconds are still missing.
 *
 * @throws INVALID_REQUEST for a period that is empty or has too many points; OVERLOADED, UNAVAILABLE
 * @see docs/api/spaces.md#history
 */
export async function getHistory(
  store: Store,
  caller: Caller,
  spaceId: string,
  { from, to, step }: HistoryQuery,
): Promise<SpaceHistory> {
  const times = timesOf({ from, to, step }, to === null ? await redisNow(store) : 0);
  return store.slots.read(tenantOf(caller, spaceId), async (slot) => {
    const points: SpaceHistory['points'] = [];
    for (let i = 0; i < times.length; i += PORTION) {
      slot.check();
      const portion = times.slice(i, i + PORTION);
      const reply = await runScript(onBulk(store), read_history, {
        keys: { jobs: store.keys.jobs(spaceId) },
        args: { history: store.keys.history(spaceId, step) },
        rest: portion,
      });
      reply.points.forEach((flat, n) => {
        if (flat.length > 0) points.push({ at: isoOf((portion[n] as number) * 1000), names: namesOf(flat) });
      });
    }
    return { spaceId, step, points };
  });
}

/** Return the start of each point in a period, epoch seconds. @throws INVALID_REQUEST */
function timesOf({ from, to, step }: HistoryQuery, now: number): number[] {
  const before = to ?? now + 1;
  if (from !== null && from >= before) throw invalid({ from: 'must be before to' });
  const end = Math.ceil(before / 1000 / step);
  const start = from === null ? end - LIMITS.historyDefault[step] : Math.floor(from / 1000 / step);
  if (end - start > LIMITS.historyPoints) {
    throw invalid({ from: `must be at most ${LIMITS.historyPoints} steps of ${step} seconds before to` });
  }
  return Array.from({ length: end - start }, (_, i) => (start + i) * step);
}

const invalid = (faults: { from: string }) =>
  invalidRequest(Object.entries(faults).map(([path, rule]) => ({ path, message: `${path} ${rule}` })));

function namesOf(flat: string[]): Record<string, NameHistory> {
  const names: [string, NameHistory][] = [];
  for (let i = 0; i < flat.length; i += 2) {
    names.push([flat[i] as string, historyOf(cellOfText(flat[i + 1] as string))]);
  }
  return Object.fromEntries(names.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function historyOf(cell: Cell): NameHistory {
  const counts = Object.fromEntries(COUNTERS.map((counter, at) => [counter, cell[at] as number]));
  return {
    ...(counts as Record<(typeof COUNTERS)[number], number>),
    waitSeconds: durationOf(cell, DURATIONS.wait),
    runSeconds: durationOf(cell, DURATIONS.run),
  };
}

function durationOf(cell: Cell, at: number): NameHistory['waitSeconds'] {
  const buckets: Record<string, number> = {};
  let count = 0;
  for (let bucket = 0; bucket <= BUCKET_SECONDS.length; bucket++) {
    const number = cell[at + 1 + bucket] as number;
    if (number > 0) buckets[BUCKET_SECONDS[bucket] ?? 'more'] = number;
    count += number;
  }
  return { count, sum: (cell[at] as number) / 1000, buckets };
}
