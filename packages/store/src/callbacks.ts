import { runScript } from './script.js';
import { redeliver_callback, relay_callbacks } from './scripts.generated.js';
import type { Caller, Store } from './store.js';
import { worksOn } from './works-on.js';

// The life of a callback. Owed: its job id is in `callbacks`, put there by the step that ends the job.
//
//   owed ──relay──▶ in a scheduler's hands ──begin──▶ leased: the POST is made ──record──▶ settled
//     ▲                      │ lost                        │ lost           │
//     └──── looked at again ─┴─────────────────────────────┘                └──▶ owed, due later

/** Debts handed over in one step. */
const STEP = 100;

/** A debt in somebody's hands is looked at again after this, then after twice the time, and so on… */
export const AGAIN_MS = 4_000;

/** …but after this at the latest, however long it has been waiting. */
const AGAIN_AT_MOST_MS = 300_000;

/** A callback that is owed. */
export interface Debt {
  jobId: string;
  /** Attempts made when its retries were begun anew: 0, until somebody asks for a redelivery. */
  round: number;
}

/** What one step of relaying found. */
export interface Relayed {
  /** Whether more may be due: the step was full. */
  isMore: boolean;
  /** Looked at for the first time since they were due. */
  debts: Debt[];
  /** Looked at before, and still owed: whoever had them waits, is slow, or has lost them. */
  overdue: Debt[];
}

/**
 * Take over callbacks of one partition that are due, at most 100, the oldest first. Each is given to one caller; one
 * that is then forgotten comes again after 4 s, after 8 s, and so on, up to every 5 minutes.
 *
 * @param partition its tag, see PARTITION_TAGS
 * @throws UNAVAILABLE
 */
export async function relayCallbacks(store: Store, partition: string): Promise<Relayed> {
  const [, looked, flat] = (await runScript(store, relay_callbacks, {
    keys: { callbacks: store.keys.callbacks(partition) },
    args: { base: store.keys.baseOf(partition), limit: STEP, againMs: AGAIN_MS, atMostMs: AGAIN_AT_MOST_MS },
  })) as [string, number, string[]];
  const relayed: Relayed = { isMore: Number(looked) === STEP, debts: [], overdue: [] };
  for (let i = 0; i < flat.length; i += 3) {
    const debt = { jobId: flat[i] as string, round: Number(flat[i + 1]) };
    relayed[Number(flat[i + 2]) < AGAIN_MS ? 'debts' : 'overdue'].push(debt);
  }
  return relayed;
}

/**
 * Send the callback of an ended job again, now, with all its retries ahead; an attempt that is being made just now is
 * awaited first.
 *
 * @throws JOB_NOT_ENDED, NO_CALLBACK, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE, STORAGE_FULL
 */
export async function redeliverCallback(store: Store, caller: Caller, jobId: string): Promise<void> {
  await runScript(store, redeliver_callback, worksOn(store, caller, jobId));
}
