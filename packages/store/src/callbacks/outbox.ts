import { runScript } from '../script/run-script.js';
import { redeliver_callback, relay_callbacks } from '../script/scripts.generated.js';
import { type Caller, inputsForJob, type Store } from '../store.js';

// The life of a callback. Pending: its job ID is in `callbacks`, added by the script that ended the job.
//
//   pending ──relay──▶ at a scheduler ──begin──▶ leased: the POST is sent ──record──▶ settled
//      ▲                      │ lost                        │ lost              │
//      └───── checked again ──┴─────────────────────────────┘                   └──▶ pending, due later

/** Callbacks per step. */
const STEP = 100;

/** How long until the relay checks a relayed callback again, in milliseconds. Doubles each time. */
export const AGAIN_MS = 4_000;

/** Maximum time until the relay checks again, in milliseconds. */
const AGAIN_AT_MOST_MS = 300_000;

/** A pending callback. */
export interface PendingCallback {
  jobId: string;
  /** Number of attempts before its current series; 0 until a client requests a redelivery. */
  series: number;
}

/** A due callback and its URL. */
export interface DueCallback extends PendingCallback {
  url: string;
}

/** Result of one step of the relay. */
export interface Relayed {
  /** Whether more may be due, because the step was full. */
  isMore: boolean;
  /** Callbacks returned for the first time since they became due. */
  callbacks: DueCallback[];
  /** Callbacks returned before that are still pending: their scheduler is waiting, slow, or has lost them. */
  overdue: DueCallback[];
}

/**
 * Return up to 100 due callbacks of one partition, oldest first, each to a single caller. A callback that the caller loses
 * is returned again after 4 s, 8 s and so on, up to every 5 minutes.
 *
 * @param partition tag of the partition; see PARTITION_TAGS
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
 * Enqueue the callback of an ended job again, due now and with all of its retries. An attempt in flight ends first.
 *
 * @throws JOB_NOT_ENDED, NO_CALLBACK, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE, STORAGE_FULL
 */
export async function redeliverCallback(store: Store, caller: Caller, jobId: string): Promise<void> {
  await runScript(store, redeliver_callback, inputsForJob(store, caller, jobId));
}
