import type { PostOutcome } from './http-post.js';

/** Statuses by which a receiver says that a later attempt may succeed. Every 5xx says so, too. */
const PASSING = [408, 425, 429];

/** Longest delay, however far away `Retry-After` points. */
const LONGEST_MS = 24 * 3_600_000;

/**
 * Share by which each delay is shorter or longer, by chance, so that receivers that failed together are not called
 * together.
 */
const JITTER = 0.2;

const isWorthRetrying = (response: PostOutcome) =>
  'error' in response
    ? !response.isFinal
    : Math.floor(response.statusCode / 100) === 5 || PASSING.includes(response.statusCode);

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
  /** Random number from 0 up to 1. */
  chance?: number;
}

/**
 * Decide when to try again.
 *
 * @returns milliseconds; null for never
 * @see docs/callbacks.md, "Retries"
 */
export function retryIn(
  response: PostOutcome,
  { made, delays, nowMs, chance = Math.random() }: RetryOptions,
): number | null {
  const seconds = delays[made];
  if (seconds === undefined || !isWorthRetrying(response)) return null;
  const delay = seconds * 1000 * (1 - JITTER + 2 * JITTER * chance);
  return Math.round(Math.max(delay, 'error' in response ? 0 : askedFor(response.retryAfter, nowMs)));
}
