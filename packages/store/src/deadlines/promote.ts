import type { Status } from '@yardmaster/protocol';
import { runScript } from '../script/run-script.js';
import { promote } from '../script/scripts.generated.js';
import type { Store } from '../store.js';

/** Jobs processed in one step: twice as many would keep Redis busy for some 4 ms. */
const STEP = 50;

/** Result of one step of promotion. */
export interface Promoted {
  /** Whether more may be due: the step was full. */
  isMore: boolean;
  /** Scheduled jobs that are pending now. */
  ready: number;
  /** Jobs that were not started in time, and are dead now. */
  notStarted: number;
  /** How long the earliest of these was due, in milliseconds, Redis clock. */
  lagMs: number;
  /** Jobs whose records are not valid, or of a later release: skipped, and checked again in a minute. */
  broken: string[];
}

/**
 * Make the scheduled jobs of one partition pending that are due, at most 50, the earliest first; and make those dead
 * whose time to start is over. Any number of processes may call it at once, because each job is processed once.
 *
 * @param partition its tag, see PARTITION_TAGS
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
