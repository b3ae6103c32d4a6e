import { runScript } from '../script/run-script.js';
import { redeliver_callback, relay_callbacks } from '../script/scripts.generated.js';
import { type Caller, inputsForJob, type Store } from '../store.js';

// The life of a callback. Pending: its job id is in `callbacks`, where the script that ends the job has put it.
//
//   pending ──relay──▶ at a scheduler ──begin──▶ leased: the POST is made ──record──▶ settled
//      ▲                      │ lost                        │ lost              │
//      └───── checked again ──┴─────────────────────────────┘                   └──▶ pending, due later

/** Pending callbacks relayed in one step. */
const STEP = 100;

/** Time until the relay checks again a callback that a scheduler has. It doubles each time. */
export const AGAIN_MS = 4_000;

/** Longest time until the relay checks again, however long the callback has been waiting. */
const AGAIN_AT_MOST_MS = 300_000;

/** A callback that is pending. */
export interface PendingCallback {
  jobId: string;
  /** Attempts made when its current series of retries began: 0, until a client requests a redelivery. */
  series: number;
}

/** A callback that is due, and where it goes. */
export interface DueCallback extends PendingCallback {
  url: string;
}

/** Result of one step of the relay. */
export interface Relayed {
  /** Whether more may be due: the step was full. */
  isMore: boolean;
  /** Callbacks listed for the first time since they were due. */
  callbacks: DueCallback[];
  /** Callbacks listed before and still pending: the scheduler that had them waits, is slow, or has lost them. */
  overdue: DueCallback[];
}

/**
 * Return callbacks of one partition that are due, at most 100, the oldest first. Each is given to one caller. One that
 * is then forgotten is returned again after 4 s, after 8 s, and so on, up to every 5 minutes.
 *
 * @param partition its tag, see PARTITION_TAGS
 * @throws UNAVAILABLE
 */
export async function relayCallbacks(store: Store, partition: string): Promise<Relayed> {
  const { examined, due } = await runScript(store, relay_callbacks, {
    keys: { callbacks: store.keys.callbacks(partition) },
    args: { base: store.keys.baseOf(partition), limit: STEP, againMs: AGAIN_MS, atMostMs: AGAIN_AT_MOST_MS },
  });
  const relayed: Relayed = { isMore: examined === STEP, callbacks: [], overdue: [] };
  for (let i = 0; i < due.length; i += 4) {
    const [jobId, series, url, waitedMs] = due.slice(i, i + 4) as [string, string, string, string];
    relayed[Number(waitedMs) < AGAIN_MS ? 'callbacks' : 'overdue'].push({ jobId, series: Number(series), url });
  }
  return relayed;
}

/**
 * Enqueue the callback of an ended job again, due now and with all its retries. If an attempt is being made now, its
 * end is awaited first.
 *
 * @throws JOB_NOT_ENDED, NO_CALLBACK, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE, STORAGE_FULL
 */
export async function redeliverCallback(store: Store, caller: Caller, jobId: string): Promise<void> {
  await runScript(store, redeliver_callback, inputsForJob(store, caller, jobId));
}
