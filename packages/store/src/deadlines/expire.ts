import type { StatusOrNone } from '../observer.js';
import { runScript } from '../script/run-script.js';
import { expire } from '../script/scripts.generated.js';
import type { Store } from '../store.js';

/** Deadlines processed in one step. */
const STEP = 100;

/** Outcomes for jobs whose deadline has passed, in the order of the script's counts. */
const MOVES: readonly [from: StatusOrNone, to: StatusOrNone][] = [
  ['delivered', 'pending'],
  ['delivered', 'dead'],
  ['running', 'pending'],
  ['running', 'scheduled'],
  ['running', 'dead'],
  ['completed', 'none'],
  ['dead', 'none'],
  ['killed', 'none'],
];

/** Index in the counts of the jobs that were given another window. */
const REOPENED = MOVES.length;

/** Result of one step of expiry. */
export interface Expired {
  /** Whether more may be due: the step was full. */
  isMore: boolean;
  /** Delivered jobs that were not acked in time, pending again. */
  redelivered: number;
  /** Delivered jobs that were not acked in time, and are dead now. */
  neverAcked: number;
  /** Attempts that failed because their worker sent no heartbeat in time, or took longer than `maxRunSeconds`. */
  timedOut: number;
  /** Ended jobs whose retention was over. */
  purged: number;
  /**
   * Delivered and running jobs that got another window, because Redis' clock stepped forward and they had less than
   * theirs.
   */
  reopened: number;
  /** How long the oldest of the other jobs was due, in milliseconds, Redis clock. */
  lagMs: number;
  /** Jobs whose records are not valid, or of a later release: skipped, and checked again in a minute. */
  broken: string[];
}

/**
 * Process the due deadlines of one partition, at most 100, the oldest first. Any number of processes may call it at
 * once, because each deadline is processed once.
 *
 * @param partition its tag, see PARTITION_TAGS
 * @param dueBefore time of a reading of Redis' clock without an unhandled step, epoch milliseconds, so that an
 *   unnoticed step ends no window. See clock-watch.ts
 * @throws UNAVAILABLE
 * @see docs/api/job.md#timeouts
 */
export async function expireDue(store: Store, partition: string, dueBefore: number): Promise<Expired> {
  const base = store.keys.baseOf(partition);
  const { examined, counts, lagMs, broken, ended } = await runScript(store, expire, {
    keys: { deadlines: store.keys.deadlines(partition) },
    args: { base, limit: STEP, dueBefore, random: store.settings.random() },
  });
  const done = MOVES.map(([from, to], i) => ({ from, to, jobs: counts[i] as number }));
  reportEnded(store, ended);
  for (const { from, to, jobs } of done) if (to === 'none' && jobs > 0) store.observer.changed({ from, to, jobs });
  const reopened = counts[REOPENED] as number;
  if (examined > reopened) store.observer.expired(lagMs);
  const total = (isIt: (move: (typeof done)[number]) => boolean) =>
    done.filter(isIt).reduce((sum, { jobs }) => sum + jobs, 0);
  return {
    isMore: examined === STEP,
    redelivered: counts[0] as number,
    neverAcked: total(({ from, to }) => from === 'delivered' && to === 'dead'),
    timedOut: total(({ from }) => from === 'running'),
    purged: total(({ to }) => to === 'none'),
    reopened,
    lagMs,
    broken,
  };
}

/** Report deliveries and attempts that are over. @param ended of the script: space, name, index + 1 in MOVES, run time */
function reportEnded(store: Store, ended: readonly string[]): void {
  for (let i = 0; i < ended.length; i += 4) {
    const [spaceId, name, move, runMs] = ended.slice(i, i + 4) as [string, string, string, string];
    const [from, to] = MOVES[Number(move) - 1] as (typeof MOVES)[number];
    store.observer.changed({
      from,
      to,
      spaceId,
      name,
      by: 'timeout',
      ...(from === 'running' && { runMs: Number(runMs) }),
    });
  }
}
