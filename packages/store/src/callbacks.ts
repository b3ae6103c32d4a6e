import type { JsonObject, Status } from '@yardmaster/protocol';
import { parseJson } from './record.js';
import { asked } from './redis-errors.js';
import { runScript } from './script.js';
import { begin_callback, record_callback, redeliver_callback, relay_callbacks } from './scripts.generated.js';
import { ANY_SPACE, type Caller, type Store } from './store.js';
import { isoOf } from './time.js';
import { worksOn } from './works-on.js';

// The life of a callback. Owed: its job id is in `callbacks`, put there by the step that ends the job.
//
//   owed ──relay──▶ in a scheduler's hands ──begin──▶ leased: the POST is made ──record──▶ settled
//     ▲                      │ lost                        │ lost           │
//     └──── looked at again ─┴─────────────────────────────┘                └──▶ owed, due later

/** Debts handed over in one step. */
const STEP = 100;

/** A debt in somebody's hands is looked at again after this, then after twice the time, and so on… */
const AGAIN_MS = 4_000;

/** …but after this at the latest, however long it has been waiting. */
const AGAIN_AT_MOST_MS = 300_000;

/** How long one attempt belongs to whoever began it: longer than a POST and the recording of its outcome take. */
export const CALLBACK_LEASE_MS = 15_000;

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
  debts: Debt[];
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
  const debts: Debt[] = [];
  for (let i = 0; i < flat.length; i += 2) debts.push({ jobId: flat[i] as string, round: Number(flat[i + 1]) });
  return { isMore: Number(looked) === STEP, debts };
}

/** An attempt that is to be made now: what the receiver is told, and where. */
export interface CallbackAttempt {
  jobId: string;
  spaceId: string;
  name: string;
  status: Status;
  /** Attempts of the job that were started. */
  attemptNumber: number;
  /** JSON text: of a completed job its result, of a dead one `{"error": …}`. */
  result: string;
  /** When the job ended, ISO 8601. */
  endedAt: string;
  url: string;
  headers: Record<string, string>;
  /** Which POST this is, from 1, those of earlier rounds included. */
  attempt: number;
  /** Redis' clock, epoch milliseconds. */
  nowMs: number;
}

/** Why an attempt is not to be made: not yet, or no more. */
export type NoAttempt = { waitMs: number } | { waitMs: null };

/**
 * Take the next attempt at a callback. Until it is recorded, or for 15 s, nobody else gets it.
 *
 * @returns the attempt; or how long to wait, in milliseconds; or `waitMs: null` when this round owes nothing any more
 * @throws UNAVAILABLE
 */
export async function beginCallback(store: Store, { jobId, round }: Debt): Promise<CallbackAttempt | NoAttempt> {
  const { keys, args } = worksOn(store, ANY_SPACE, jobId);
  const { base } = args;
  const reply = await runScript(store, begin_callback, {
    keys,
    args: { base, jobId, round, leaseMs: CALLBACK_LEASE_MS },
  });
  if (reply[0] === 'NOT_OWED') return { waitMs: null };
  if (reply[0] === 'NOT_DUE') return { waitMs: Number(reply[1]) };
  const [, now, attempt, told] = reply as [string, string, number, (string | null)[]];
  const [spaceId, name, status, attemptNumber, url, headers, result, error, updatedAt] = told;
  return {
    jobId,
    spaceId: spaceId as string,
    name: name as string,
    status: status as Status,
    attemptNumber: Number(attemptNumber ?? 0),
    result: status === 'dead' ? `{"error":${error ?? 'null'}}` : (result ?? 'null'),
    endedAt: isoOf(updatedAt as string),
    url: url as string,
    headers: ((parseJson(headers) as JsonObject | null) ?? {}) as Record<string, string>,
    attempt: Number(attempt),
    nowMs: Number(now),
  };
}

/** What came of an attempt, as the job's history shows it. */
export type CallbackOutcome =
  | { type: 'callback_sent'; data: { url: string; statusCode: number; attempt: number; willRetry: boolean } }
  | { type: 'callback_failed'; data: { url: string; error: string; attempt: number; willRetry: boolean } };

/**
 * Record what came of an attempt. May be called again when its answer was lost: it counts once.
 *
 * @param retryMs milliseconds until the next attempt; null when this was the last
 * @returns whether it counted; false when it was recorded before, or the job is gone
 * @throws UNAVAILABLE
 */
export async function recordCallback(
  store: Store,
  jobId: string,
  { type, data, retryMs }: CallbackOutcome & { retryMs: number | null },
): Promise<boolean> {
  const { keys, args } = worksOn(store, ANY_SPACE, jobId);
  const { base } = args;
  const { attempt } = data;
  const [word] = await runScript(store, record_callback, {
    keys,
    args: {
      base,
      jobId,
      attempt,
      eventType: type,
      data: JSON.stringify(data),
      retryMs: retryMs ?? '',
      againMs: AGAIN_MS,
      eventsPerJob: store.settings.eventsPerJob,
    },
  });
  return word === 'OK';
}

/**
 * Send the callback of an ended job again, now, with all its retries ahead. While an attempt is being made, that one
 * is the redelivery.
 *
 * @throws JOB_NOT_ENDED, NO_CALLBACK, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE, STORAGE_FULL
 */
export async function redeliverCallback(store: Store, caller: Caller, jobId: string): Promise<void> {
  await runScript(store, redeliver_callback, worksOn(store, caller, jobId));
}

/**
 * Where the callback of a job goes.
 *
 * @returns null when there is no such job any more
 * @throws UNAVAILABLE
 */
export async function callbackUrlOf(store: Store, jobId: string): Promise<string | null> {
  return asked(store.redis.hget(store.keys.job(jobId), 'callbackUrl'));
}
