import type { StatusOrNone } from '../observer.js';
import { runScript } from '../script/run-script.js';
import { expire } from '../script/scripts.generated.js';
import type { Store } from '../store.js';

/** Deadlines per step. */
const STEP = 100;

/** Changes of jobs whose deadline has passed, in the order of the script's counts. */
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

/** Index of restarted windows in the script's counts. */
const REOPENED = MOVES.length;

/** Result of one step of expiry. */
export interface Expired {
  /** Whether more may be due: the step was full. */
  isMore: boolean;
  /** Jobs returned to the queue because they were not acked in time. */
  redelivered: number;
  /** Jobs that are dead because they were not acked in time too often. */
  neverAcked: number;
  /** Attempts that failed because their worker sent no heartbeat in time, or exceeded `maxRunSeconds`. */
  timedOut: number;
  /** Ended jobs deleted after their retention. */
  purged: number;
  /** Restarted windows, which a step of the clock of Redis had cut short. */
  reopened: number;
  /** Lateness of the oldest deadline by the clock of Redis, in milliseconds, not counting restarted windows. */
  lagMs: number;
  /** IDs of jobs with an invalid record, or one from a newer release. They are skipped, and checked again in a minute. */
  broken: string[];
}

/**
 * Process up to 100 due deadlines of one partition, oldest first. Any number of processes can call this at once, because
 * each deadline is processed once.
 *
 * @param partition tag of the partition; see PARTITION_TAGS
 * @param dueBefore reading of the clock of Redis with no unhandled step, epoch milliseconds, so that an unnoticed step
 *   closes no window. See clock-watch.ts
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

/** Report ended deliveries and attempts. @param ended from the script: space, name, index + 1 in MOVES, run time */
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
