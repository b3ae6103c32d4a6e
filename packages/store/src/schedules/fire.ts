import { call } from '../call.js';
import { idempotencySecretOf } from '../jobs/create/idempotency.js';
import { keyedJobId } from '../keys.js';
import { onBulk, runScript } from '../script/run-script.js';
import { due_schedules } from '../script/scripts.generated.js';
import type { Store } from '../store.js';
import { type Plan, planOf } from './plan.js';
import { jobOfDefinition, type StoredSchedule, storedScheduleOf } from './record.js';
import { doRuns, type Run, type RunResult } from './run.js';

/** Schedules per step, and bytes of their records, exceeded by at most one record. A step takes Redis a few milliseconds. */
const STEP = 50;
const BYTES = 256 * 1_024;

/** How long a schedule with an invalid record is postponed, milliseconds. */
const BROKEN_MS = 60_000;

/** Result of one step. */
export interface Fired {
  /** Whether more schedules may be due. */
  isMore: boolean;
  /** Number of jobs created, and of times that created none. */
  fired: number;
  skipped: number;
  /** Lateness of the earliest run by the clock of Redis, in milliseconds. */
  lagMs: number;
  /** `<space>/<id>` of schedules with an invalid record. They are skipped, and tried again in a minute. */
  broken: string[];
}

/**
 * Run up to 50 due schedules of one partition, earliest first. Any number of processes can call this at once, because each
 * time of a schedule is done once.
 *
 * @param partition tag of the partition; see PARTITION_TAGS
 * @param dueBefore see expireDue
 * @throws UNAVAILABLE
 * @see docs/schedules.md
 */
export async function fireSchedules(store: Store, partition: string, dueBefore: number): Promise<Fired> {
  // Like other creates, they wait while Redis could evict jobs.
  if (!store.known.isStorageSafe) return { isMore: false, fired: 0, skipped: 0, lagMs: 0, broken: [] };
  const list = store.keys.schedules(partition);
  const reply = await runScript(onBulk(store), due_schedules, {
    keys: { schedules: list },
    args: { base: store.keys.baseOf(partition), limit: STEP, budget: BYTES, dueBefore },
  });
  const secret = await idempotencySecretOf(store);
  const broken: string[] = [];
  const runs: DueRun[] = [];
  for (const row of reply.rows as unknown as string[][]) {
    const key = `${row[0]}/${row[1]}`;
    const run = runOf(row, secret, reply.at);
    if (run === 'broken') {
      broken.push(key);
      await call(store, 'zadd', store.redis.zadd(list, 'XX', reply.at + BROKEN_MS, key));
    } else if (run === null) {
      await call(store, 'zrem', store.redis.zrem(list, key));
    } else {
      runs.push(run);
    }
  }
  const results = runs.length === 0 ? [] : await doRuns(store, partition, runs);
  const counts = countsOf(runs, results, reply.at);
  if (counts.fired + counts.skipped > 0) store.observer.fired(counts);
  broken.push(...runs.filter((_, i) => results[i]?.outcome === 'BROKEN').map(({ schedule }) => keyOf(schedule)));
  // On a full Redis, times stay due, and the next sweep tries again.
  const isFull = results.some(({ outcome }) => outcome === 'STORAGE_FULL');
  return { isMore: reply.isMore === 1 && !isFull, ...counts, broken };
}

const keyOf = ({ spaceId, id }: StoredSchedule) => `${spaceId}/${id}`;

/** Count what runs have done. */
function countsOf(runs: readonly DueRun[], results: readonly RunResult[], now: number) {
  const counts = { fired: 0, skipped: 0, lagMs: 0 };
  for (const [i, { outcome, reason }] of results.entries()) {
    const { plan } = runs[i] as DueRun;
    const isFired = outcome === 'CREATED' || outcome === 'REPLACED';
    if (!isFired && outcome !== 'SKIPPED') continue;
    if (isFired) counts.fired++;
    counts.skipped += plan.missed + (reason === '' ? 0 : 1);
    counts.lagMs = Math.max(counts.lagMs, now - plan.dueAt);
  }
  return counts;
}

type DueRun = Run & { plan: Plan };

/** Return the run of a due schedule; null if it has no next time any more; `broken` if its record is invalid. */
function runOf(row: string[], secret: Buffer, now: number): DueRun | 'broken' | null {
  try {
    const schedule = storedScheduleOf(row);
    if (schedule?.record.nextAt === undefined) return null;
    const { spaceId, id, record, definition } = schedule;
    const plan = planOf(keyOf(schedule), definition, Number(record.createdAt), Number(record.nextAt), now);
    const jobId = keyedJobId(secret, spaceId, `${id} ${plan.at}`, 'schedule');
    const job = plan.isRun ? { id: jobId, at: plan.at, request: jobOfDefinition(definition) } : null;
    return { schedule, plan, job };
  } catch {
    return 'broken';
  }
}
