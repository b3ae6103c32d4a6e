import type { Answer } from './send.js';

/** Statuses by which a receiver says that a later attempt may fare better; so does every 5xx. */
const PASSING = [408, 425, 429];

/** However far away `Retry-After` points. */
const LONGEST_MS = 24 * 3_600_000;

/** Each delay is this much shorter or longer, by chance: receivers that failed together must not be asked together. */
const JITTER = 0.2;

const isWorthRetrying = (answer: Answer) =>
  'error' in answer
    ? !answer.isFinal
    : Math.floor(answer.statusCode / 100) === 5 || PASSING.includes(answer.statusCode);

/** Milliseconds that `Retry-After` asks to wait: seconds or a date; 0 for anything else. */
function askedFor(retryAfter: string | undefined, nowMs: number): number {
  if (retryAfter === undefined) return 0;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - nowMs;
  return Math.min(Math.max(ms || 0, 0), LONGEST_MS);
}

export interface RetryOptions {
  /** Retries that were made already. */
  made: number;
  /** Seconds until each retry. */
  delays: readonly number[];
  /** Redis' clock, epoch milliseconds. */
  nowMs: number;
  /** From 0 up to 1. */
  chance?: number;
}

/**
 * Decide when to try again.
 *
 * @returns milliseconds; null for never
 * @see docs/callbacks.md, "Retries"
 */
export function retryIn(answer: Answer, { made, delays, nowMs, chance = Math.random() }: RetryOptions): number | null {
  const seconds = delays[made];
  if (seconds === undefined || !isWorthRetrying(answer)) return null;
  const delay = seconds * 1000 * (1 - JITTER + 2 * JITTER * chance);
  return Math.round(Math.max(delay, 'error' in answer ? 0 : askedFor(answer.retryAfter, nowMs)));
}
