import type { JsonObject, Status } from '@yardmaster/protocol';
import { parseJson } from '../jobs/read/record.js';
import { stateOf } from '../jobs/read/state.js';
import { onBulk, runScript } from '../script/run-script.js';
import { begin_callback, record_callback } from '../script/scripts.generated.js';
import { ANY_SPACE, inputsForJob, type Store } from '../store.js';
import { isoOf } from '../time.js';
import { AGAIN_MS, type PendingCallback } from './outbox.js';

/**
 * How long an attempt belongs to the scheduler that began it: longer than a POST and the recording of its outcome take.
 */
export const CALLBACK_LEASE_MS = 15_000;

/** Longest wait until a scheduler checks again whether another scheduler's attempt is over. */
const LONGEST_WAIT_MS = 2_000;

/** An attempt that is to be made now: the content of the request, and its URL. */
export interface CallbackAttempt {
  jobId: string;
  spaceId: string;
  name: string;
  status: Status;
  /** Attempts of the job that were started. */
  attemptNumber: number;
  /** JSON text: the result of a completed job, `{"error": …}` of a dead one, or `{"reason": …}` of a killed one. */
  result: string;
  /** When the job ended, ISO 8601. */
  endedAt: string;
  /** Order score of the job. A job that is created again under the id of a purged one has another. */
  order: string;
  url: string;
  headers: Record<string, string>;
  /** Number of this POST, from 1, counting those of earlier series. */
  attempt: number;
  /** Shows, when the outcome is recorded, that no other scheduler has taken over the attempt. */
  lease: string;
  /** Redis' clock, epoch milliseconds. */
  nowMs: number;
}

/** Reply when no attempt is to be made now. */
export interface NoAttempt {
  /** Milliseconds to wait until then; null for never, because no callback is pending any more. */
  waitMs: number | null;
}

/**
 * Begin the next attempt at a callback. Until it is recorded, or for 15 s, no other scheduler gets it.
 *
 * @returns the attempt, if there is one to be made now
 * @throws UNAVAILABLE
 */
export async function beginCallback(
  store: Store,
  { jobId, series }: PendingCallback,
): Promise<CallbackAttempt | NoAttempt> {
  const { keys, args } = inputsForJob(store, ANY_SPACE, jobId);
  // A result may be large, so it uses the connection behind which no call of a worker waits.
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

/** Return the `result` of a callback as JSON text. Lists that a script returns have null for an absent field. */
function resultOf(status: Status, { result, error, killReason }: Record<string, string | null | undefined>): string {
  if (status === 'dead') return `{"error":${error ?? 'null'}}`;
  return status === 'killed' ? `{"reason":${killReason ?? 'null'}}` : (result ?? 'null');
}

/** What the history of a job says of every attempt at its callback. */
export type AttemptedCallback = {
  url: string;
  /** Number of the attempt, from 1. */
  attempt: number;
  /** The same from 0, which clients of emit.run read. */
  retryAttempt: number;
  willRetry: boolean;
};

/** Outcome of an attempt, as the job's history shows it. */
export type CallbackOutcome =
  | { type: 'callback_sent'; data: AttemptedCallback & { statusCode: number } }
  | { type: 'callback_failed'; data: AttemptedCallback & { error: string } };

/**
 * Record the outcome of an attempt, if this scheduler still has its lease. It may be called again when its reply was
 * lost, because an outcome counts once.
 *
 * @param lease as beginCallback returned it
 * @param retryMs milliseconds until the next attempt; null when this was the last
 * @returns whether it counted; false when it was recorded before, another scheduler has taken over the attempt since,
 *   or the job is gone
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
