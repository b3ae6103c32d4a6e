import type { Status } from '@yardmaster/protocol';
import { runScript } from '../script/run-script.js';
import { promote } from '../script/scripts.generated.js';
import type { Store } from '../store.js';

/** Jobs per step. Twice as many would keep Redis busy for about 4 ms. */
const STEP = 50;

/** Result of one step of promotion. */
export interface Promoted {
  /** Whether more may be due: the step was full. */
  isMore: boolean;
  /** Scheduled jobs that are now pending. */
  ready: number;
  /** Jobs that are dead because they were not started in time. */
  notStarted: number;
  /** Lateness of the earliest of these jobs by the clock of Redis, in milliseconds. */
  lagMs: number;
  /** IDs of jobs with an invalid record, or one from a newer release. They are skipped, and checked again in a minute. */
  broken: string[];
}

/**
 * Process up to 50 due waiting jobs of one partition, earliest first: scheduled jobs become pending, and jobs whose start
 * limit has passed are dead. Any number of processes can call this at once, because each job is processed once.
 *
 * @param partition tag of the partition; see PARTITION_TAGS
 * @param dueBefore see expireDue
 * @throws UNAVAILABLE
 * @see docs/scheduling.md
 */
export async function promoteDue(store: Store, partition: string, dueBefore: number): Promise<Promoted> {
  const base = store.keys.baseOf(partition);
  const { examined, counts, lagMs, broken, dead } = await runScript(store, promote, {
    keys: { due: store.keys.due(partition) },
    args: { base, limit: STEP, dueBefore },
  });
  const [ready = 0, scheduledDead = 0, pendingDead = 0] = counts;
  if (ready > 0) store.observer.changed({ from: 'scheduled', to: 'pending', jobs: ready });
  for (let i = 0; i < dead.length; i += 3) {
    const [spaceId, name, from] = dead.slice(i, i + 3) as [string, string, Status];
    store.observer.changed({ from, to: 'dead', spaceId, name });
  }
  if (ready + scheduledDead + pendingDead > 0) store.observer.promoted(lagMs);
  return { isMore: examined === STEP, ready, notStarted: scheduledDead + pendingDead, lagMs, broken };
}
