import type { JsonObject, Status } from '@yardmaster/protocol';
import { parseJson } from '../jobs/read/record.js';
import { stateOf } from '../jobs/read/state.js';
import { onBulk, runScript } from '../script/run-script.js';
import { begin_callback, record_callback } from '../script/scripts.generated.js';
import { ANY_SPACE, inputsForJob, type Store } from '../store.js';
import { isoOf } from '../time.js';
import { AGAIN_MS, type PendingCallback } from './outbox.js';

/**
 * Lease of an attempt, in milliseconds: longer than it takes to send a POST and record its outcome.
 */
export const CALLBACK_LEASE_MS = 15_000;

/** Maximum time until a scheduler checks again whether another scheduler's attempt has ended, in milliseconds. */
const LONGEST_WAIT_MS = 2_000;

/** An attempt to make now: the content of the request, and its URL. */
export interface CallbackAttempt {
  jobId: string;
  spaceId: string;
  name: string;
  status: Status;
  /** Number of started attempts of the job. */
  attemptNumber: number;
  /** JSON text: the result of a completed job, `{"error": …}` for a dead one, `{"reason": …}` for a killed one. */
  result: string;
  /** When the job ended, ISO 8601. */
  endedAt: string;
  /** Order of the job. It distinguishes the job from a later one with the same ID. */
  order: string;
  url: string;
  headers: Record<string, string>;
  /** Number of this attempt, from 1, counting those of earlier series. */
  attempt: number;
  /** Proves, when the outcome is recorded, that no other scheduler has taken over. */
  lease: string;
  /** Current time by the clock of Redis, epoch milliseconds. */
  nowMs: number;
}

/** Reply when no attempt is due. */
export interface NoAttempt {
  /** Milliseconds to wait; null if no callback is pending anymore. */
  waitMs: number | null;
}

/**
 * Start the next attempt at a callback. No other scheduler gets it until the outcome is recorded, or for 15 s.
 *
 * @returns the attempt, or how long to wait for it
 * @throws UNAVAILABLE
 */
export async function beginCallback(
  store: Store,
  { jobId, series }: PendingCallback,
): Promise<CallbackAttempt | NoAttempt> {
  const { keys, args } = inputsForJob(store, ANY_SPACE, jobId);
  // A result can be large, so use the connection behind which no worker's call waits.
  const reply = await runScript(onBulk(store), begin_callback, {
    keys,
    args: { ...args, series, leaseMs: CALLBACK_LEASE_MS, longestWaitMs: LONGEST_WAIT_MS },
  });
  if (reply.outcome === 'NOT_PENDING') return { waitMs: null };
  if (reply.outcome === 'NOT_DUE') return { waitMs: reply.waitMs };
  const { nowMs, attempt, lease } = reply;
  const [state, url, headers, result, error, killReason] = reply.fields;
  const { spaceId, name, status, attempt: attemptNumber, updatedAt, order } = stateOf(state as string);
  return {
    jobId,
    spaceId,
    name,
    status,
    attemptNumber,
    result: resultOf(status, { result, error, killReason }),
    endedAt: isoOf(updatedAt as string),
    order,
    url: url as string,
    headers: ((parseJson(headers) as JsonObject | null) ?? {}) as Record<string, string>,
    attempt,
    lease,
    nowMs,
  };
}

/** Return the `result` of a callback as JSON text. An absent field is null. */
function resultOf(status: Status, { result, error, killReason }: Record<string, string | null | undefined>): string {
  if (status === 'dead') return `{"error":${error ?? 'null'}}`;
  return status === 'killed' ? `{"reason":${killReason ?? 'null'}}` : (result ?? 'null');
}

/** Data in the history of a job about every attempt at its callback. */
export type AttemptedCallback = {
  url: string;
  /** Number of the attempt, from 1. */
  attempt: number;
  /** The number from 0, for clients of emit.run. */
  retryAttempt: number;
  willRetry: boolean;
};

/** Outcome of an attempt, as the job's history shows it. */
export type CallbackOutcome =
  | { type: 'callback_sent'; data: AttemptedCallback & { statusCode: number } }
  | { type: 'callback_failed'; data: AttemptedCallback & { error: string } };

/**
 * Record the outcome of an attempt, if this scheduler still holds the lease. A call whose reply was lost can be retried,
 * because an outcome counts once.
 *
 * @param lease lease returned by beginCallback
 * @param retryMs milliseconds until the next attempt; null after the last attempt
 * @returns false if the outcome was already recorded, another scheduler has taken over, or the job is gone
 * @throws UNAVAILABLE
 */
export async function recordCallback(
  store: Store,
  { jobId, series }: PendingCallback,
  { lease, type, data, retryMs }: CallbackOutcome & { lease: string; retryMs: number | null },
): Promise<boolean> {
  const { keys, args } = inputsForJob(store, ANY_SPACE, jobId);
  const { outcome } = await runScript(store, record_callback, {
    keys,
    args: {
      ...args,
      series,
      lease,
      eventType: type,
      data: JSON.stringify(data),
      retryMs: retryMs ?? '',
      againMs: AGAIN_MS,
    },
  });
  return outcome === 'OK';
}
