import { retryAfterMs } from '@yardmaster/protocol';
import type { PostOutcome } from './http-post.js';

/** Statuses below 500 by which a receiver says that a later attempt may succeed. Every 5xx says so, too. */
const TEMPORARY = [408, 425, 429];

/** Longest delay, however far away `Retry-After` points. */
const LONGEST_MS = 24 * 3_600_000;

/**
 * Share by which each delay is shorter or longer, by chance, so that receivers that failed together are not called
 * together.
 */
const JITTER = 0.2;

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
  return Math.floor(response.statusCode / 100) === 5 || TEMPORARY.includes(response.statusCode);
}
