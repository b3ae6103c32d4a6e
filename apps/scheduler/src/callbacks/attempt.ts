import type http from 'node:http';
import type https from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { retryAfterMs, YardmasterError } from '@yardmaster/protocol';
import {
  type AttemptedCallback,
  beginCallback,
  CALLBACK_LEASE_MS,
  type CallbackOutcome,
  type PendingCallback,
  recordCallback,
  type Store,
} from '@yardmaster/store';
import type { CallbackMetrics } from '../metrics.js';
import { type PostOutcome, post } from './http-post.js';
import { bodyOf, headersOf } from './signed-request.js';

/** Time between attempts to record an outcome while Redis is unavailable, milliseconds. */
const RECORD_AGAIN_MS = 250;

export interface AttemptOptions {
  store: Store;
  agents: { http: http.Agent; https: https.Agent };
  /** Returns the master secrets that the keys of each space are derived from; if empty, callbacks are not signed. */
  masterSecrets: () => readonly Buffer[];
  /** Seconds before each retry. */
  delays: readonly number[];
  metrics: CallbackMetrics;
}

export interface AttemptResult {
  /** Milliseconds until the next attempt; null if there is none, or if another scheduler makes it. */
  againMs: number | null;
  /** Null if no attempt was made. */
  outcome: CallbackOutcome | null;
}

/**
 * Make the next attempt at a callback, if one is due: begin, POST, record.
 *
 * After a crash between the POST and the record, the attempt is repeated once its lease expires, with the same `webhook-id`.
 *
 * @throws UNAVAILABLE if Redis could not return the pending callback, or could not record the outcome before the lease
 *   expired
 */
export async function attemptCallback(
  callback: PendingCallback,
  { store, agents, masterSecrets, delays, metrics }: AttemptOptions,
): Promise<AttemptResult> {
  const begun = await begin(store, callback, masterSecrets());
  const leaseEnds = performance.now() + CALLBACK_LEASE_MS;
  if ('waitMs' in begun) return { againMs: begun.waitMs, outcome: null };

  const { message, attempt, lease, nowMs } = begun;
  metrics.began();
  const response = await post({ ...message, agents });
  metrics.ended(response);
  // If a redelivery is requested during an attempt, whose outcome is then not recorded, the next attempt counts as the first
  // of its series.
  const made = Math.max(attempt - 1 - callback.series, 0);
  const retryMs = retryDelayMs(response, { made, delays, nowMs });
  const willRetry = retryMs !== null;
  const outcome = outcomeOf(response, { url: message.url, attempt, retryAttempt: attempt - 1, willRetry });
  const isRecorded = await recordUntil(leaseEnds, () =>
    recordCallback(store, callback, { ...outcome, lease, retryMs }),
  );
  return { againMs: isRecorded ? retryMs : null, outcome };
}

/** Begin the next attempt and build its request. Nothing else of the job stays in memory while the receiver responds. */
async function begin(store: Store, callback: PendingCallback, masterSecrets: readonly Buffer[]) {
  const begun = await beginCallback(store, callback);
  if ('waitMs' in begun) return begun;
  const { url, attempt, lease, nowMs } = begun;
  const body = bodyOf(begun);
  return {
    message: { url, headers: headersOf(begun, body, masterSecrets), body: Buffer.from(body) },
    attempt,
    lease,
    nowMs,
  };
}

function outcomeOf(response: PostOutcome, { url, ...counts }: AttemptedCallback): CallbackOutcome {
  return 'error' in response
    ? { type: 'callback_failed', data: { url, error: response.error, ...counts } }
    : { type: 'callback_sent', data: { url, statusCode: response.statusCode, ...counts } };
}

/** Record the outcome, retrying through a short Redis outage, because an unrecorded attempt is sent again. */
async function recordUntil(end: number, record: () => Promise<boolean>): Promise<boolean> {
  for (;;) {
    try {
      return await record();
    } catch (error) {
      const isOutage = error instanceof YardmasterError && error.code === 'UNAVAILABLE';
      if (!isOutage || performance.now() > end) throw error;
    }
    await delay(RECORD_AGAIN_MS);
  }
}

/** Statuses below 500 after which a later attempt may succeed, as after any 5xx. */
const TEMPORARY = [408, 425, 429];

/** Maximum delay, whatever `Retry-After` says, milliseconds. */
const LONGEST_MS = 24 * 3_600_000;

/** Random variation of each delay, as a fraction, so that callbacks that failed together are not retried together. */
const JITTER = 0.2;

export interface RetryOptions {
  /** Number of retries made so far. */
  made: number;
  /** Seconds before each retry. */
  delays: readonly number[];
  /** Time by Redis's clock, epoch milliseconds. */
  nowMs: number;
  /** Random number from 0 to 1 (exclusive). */
  chance?: number;
}

/**
 * Decide when to retry.
 *
 * @returns milliseconds until the retry; null for never
 * @see docs/callbacks.md, "Retries"
 */
export function retryDelayMs(
  response: PostOutcome,
  { made, delays, nowMs, chance = Math.random() }: RetryOptions,
): number | null {
  const seconds = delays[made];
  if (seconds === undefined || !isWorthRetrying(response)) return null;
  const delay = seconds * 1000 * (1 - JITTER + 2 * JITTER * chance);
  const requested = 'error' in response ? 0 : retryAfterMs(response.retryAfter, nowMs, LONGEST_MS);
  return Math.round(Math.max(delay, requested));
}

function isWorthRetrying(response: PostOutcome): boolean {
  if ('error' in response) return !response.isFinal;
  const { statusCode } = response;
  // RFC 9110 §15: an invalid status counts as a 5xx.
  return statusCode < 100 || statusCode >= 500 || TEMPORARY.includes(statusCode);
}
