import type { Whereabouts } from './observer.js';
import { runScript } from './script.js';
import { expire } from './scripts.generated.js';
import type { Store } from './store.js';

/** Deadlines looked at in one step. */
const STEP = 100;

/** What becomes of a job whose deadline is met, in the order in which the script counts them. */
const MOVES: readonly [from: Whereabouts, to: Whereabouts][] = [
  ['delivered', 'pending'],
  ['delivered', 'dead'],
  ['running', 'pending'],
  ['running', 'dead'],
  ['completed', 'none'],
  ['dead', 'none'],
  ['killed', 'none'],
];

/** Place among the counts of jobs that were given another window. */
const REOPENED = MOVES.length;

/** What one step of expiry did. */
export interface Expired {
  /** Whether more may be due: the step was full. */
  isMore: boolean;
  /** Delivered jobs that were not acked in time, pending again. */
  redelivered: number;
  /** Delivered jobs that were not acked in time so often in a row that they are dead. */
  neverAcked: number;
  /** Attempts that failed because their worker was silent for too long. */
  timedOut: number;
  /** Ended jobs whose retention was over. */
  purged: number;
  /** Delivered and running jobs that had less than their window, since Redis' clock stepped forward: they got another. */
  reopened: number;
  /** How long the oldest of the others was due, in milliseconds, Redis clock. */
  lateMs: number;
  /** Jobs whose records are not what we write: passed over, and looked at again in a minute. */
  broken: string[];
}

/**
 * Do what is due in one partition: at most 100 deadlines, the oldest first. Any number of processes may call it at
 * once; each deadline is met once.
 *
 * @param partition its tag, see PARTITION_TAGS
 * @param dueBefore a look at Redis' clock that showed no step, or after which a step was dealt with, epoch milliseconds: so a
 *   step that nobody has noticed yet ends no window. See clock-watch.ts
 * @throws UNAVAILABLE
 * @see spec §3, "delivery time-out", rules 3 and 6
 */
export async function expireDue(store: Store, partition: string, dueBefore: number): Promise<Expired> {
  const { maxDeliveries, eventsPerJob, retentionMs, deliveryTimeoutMs } = store.settings;
  const base = store.keys.baseOf(partition);
  const [, looked, counts, lateMs, broken] = (await runScript(store, expire, {
    keys: { deadlines: store.keys.deadlines(partition) },
    args: { base, limit: STEP, maxDeliveries, eventsPerJob, retentionMs, deliveryTimeoutMs, dueBefore },
  })) as [string, number, number[], number, string[]];
  const done = MOVES.map(([from, to], i) => ({ from, to, jobs: Number(counts[i]) }));
  for (const { from, to, jobs } of done) if (jobs > 0) store.observer.moved(from, to, jobs);
  const reopened = Number(counts[REOPENED]);
  if (Number(looked) > reopened) store.observer.met(lateMs);
  const total = (isIt: (move: (typeof done)[number]) => boolean) =>
    done.filter(isIt).reduce((sum, { jobs }) => sum + jobs, 0);
  return {
    isMore: Number(looked) === STEP,
    redelivered: total(({ from, to }) => from === 'delivered' && to === 'pending'),
    neverAcked: total(({ from, to }) => from === 'delivered' && to === 'dead'),
    timedOut: total(({ from }) => from === 'running'),
    purged: total(({ to }) => to === 'none'),
    reopened,
    lateMs,
    broken,
  };
}
