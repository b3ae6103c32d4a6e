import type http from 'node:http';
import type https from 'node:https';
import { YardmasterError } from '@yardmaster/protocol';
import {
  beginCallback,
  CALLBACK_LEASE_MS,
  type CallbackOutcome,
  type Debt,
  recordCallback,
  type Store,
} from '@yardmaster/store';
import type { CallbackMetrics } from '../metrics/callback-metrics.js';
import { bodyOf, headersOf } from './message.js';
import { retryIn } from './retries.js';
import { type Answer, post } from './send.js';

export interface DeliverOptions {
  store: Store;
  agents: { http: http.Agent; https: https.Agent };
  /** Sign with the keys that each space has from these; none: not signed. */
  masters: readonly Buffer[];
  /** Seconds until each retry. */
  delays: readonly number[];
  metrics: CallbackMetrics;
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
export async function deliver(
  debt: Debt,
  { store, agents, masters, delays, metrics }: DeliverOptions,
): Promise<Delivered> {
  const begun = await begin(store, debt, masters);
  const leaseEnds = performance.now() + CALLBACK_LEASE_MS;
  if ('waitMs' in begun) return { againMs: begun.waitMs, outcome: null };

  const { message, attempt, lease, nowMs } = begun;
  metrics.began();
  const answer = await post({ ...message, agents });
  metrics.ended(answer);
  // A redelivery that was asked for during an attempt which then was lost counts as the first of its round.
  const made = Math.max(attempt - 1 - debt.round, 0);
  const retryMs = retryIn(answer, { made, delays, nowMs });
  const outcome = outcomeOf(answer, { url: message.url, attempt, willRetry: retryMs !== null });
  const recorded = await recordUntil(leaseEnds, () => recordCallback(store, debt, { ...outcome, lease, retryMs }));
  return { againMs: recorded ? retryMs : null, outcome };
}

/** Take the next attempt and write down what is sent; nothing else of the job is kept while the receiver thinks. */
async function begin(store: Store, debt: Debt, masters: readonly Buffer[]) {
  const begun = await beginCallback(store, debt);
  if ('waitMs' in begun) return begun;
  const { url, attempt, lease, nowMs } = begun;
  const body = bodyOf(begun);
  return { message: { url, headers: headersOf(begun, body, masters), body: Buffer.from(body) }, attempt, lease, nowMs };
}

interface Shown {
  url: string;
  attempt: number;
  willRetry: boolean;
}

function outcomeOf(answer: Answer, { url, attempt, willRetry }: Shown): CallbackOutcome {
  return 'error' in answer
    ? { type: 'callback_failed', data: { url, error: answer.error, attempt, willRetry } }
    : { type: 'callback_sent', data: { url, statusCode: answer.statusCode, attempt, willRetry } };
}

/** Record through a short outage of Redis: what is not recorded is sent again. */
async function recordUntil(end: number, record: () => Promise<boolean>): Promise<boolean> {
  for (;;) {
    try {
      return await record();
    } catch (error) {
      const isOutage = error instanceof YardmasterError && error.code === 'UNAVAILABLE';
      if (!isOutage || performance.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
