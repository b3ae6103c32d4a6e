import type http from 'node:http';
import type https from 'node:https';
import { YardmasterError } from '@yardmaster/protocol';
import {
  beginCallback,
  CALLBACK_LEASE_MS,
  type CallbackAttempt,
  type CallbackOutcome,
  type Debt,
  recordCallback,
  type Store,
} from '@yardmaster/store';
import { bodyOf, headersOf } from './message.js';
import { retryIn } from './retries.js';
import { type Answer, post } from './send.js';

export interface DeliverOptions {
  store: Store;
  agents: { http: http.Agent; https: https.Agent };
  /** Sign with these; none: not signed. */
  keys: readonly Buffer[];
  /** Seconds until each retry. */
  delays: readonly number[];
}

/** How an attempt went; `againMs` is when to come back for the next one, null for never. */
export interface Delivered {
  againMs: number | null;
  outcome: CallbackOutcome | null;
}

/**
 * Make the next attempt at a callback, if there is one to be made: begin, POST, record.
 *
 * A crash between the POST and the record repeats the attempt once its lease is over, with the same `webhook-id`.
 *
 * @throws UNAVAILABLE when Redis could not tell what is owed, or could not take the outcome until the lease was over
 */
export async function deliver(debt: Debt, { store, agents, keys, delays }: DeliverOptions): Promise<Delivered> {
  const begun = await beginCallback(store, debt);
  const leaseEnds = performance.now() + CALLBACK_LEASE_MS;
  if ('waitMs' in begun) return { againMs: begun.waitMs, outcome: null };

  const body = bodyOf(begun);
  const answer = await post({ url: begun.url, headers: headersOf(begun, body, keys), body, agents });
  const made = begun.attempt - 1 - debt.round;
  const retryMs = retryIn(answer, { made, delays, nowMs: begun.nowMs });
  const outcome = outcomeOf(begun, answer, retryMs !== null);
  await recordUntil(leaseEnds, () => recordCallback(store, debt.jobId, { ...outcome, retryMs }));
  return { againMs: retryMs, outcome };
}

function outcomeOf({ url, attempt }: CallbackAttempt, answer: Answer, willRetry: boolean): CallbackOutcome {
  return 'error' in answer
    ? { type: 'callback_failed', data: { url, error: answer.error, attempt, willRetry } }
    : { type: 'callback_sent', data: { url, statusCode: answer.statusCode, attempt, willRetry } };
}

/** Record through a short outage of Redis: what is not recorded is sent again. */
async function recordUntil(end: number, record: () => Promise<boolean>): Promise<void> {
  for (;;) {
    try {
      await record();
      return;
    } catch (error) {
      const isOutage = error instanceof YardmasterError && error.code === 'UNAVAILABLE';
      if (!isOutage || performance.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
