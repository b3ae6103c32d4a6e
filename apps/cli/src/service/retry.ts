/** HTTP statuses of refusals that may pass: too much at once, and servers that are unavailable or overloaded. */
export const PASSING_STATUSES = new Set([429, 502, 503, 504]);

/** Upper limit of the first pause. It doubles with each failure. */
const FIRST_MS = 500;

const MAX_MS = 15_000;

/**
 * Return how long to wait before connecting again, in milliseconds.
 *
 * It is a random time up to a limit, which doubles from 0.5 s to 15 s (full jitter). So clients that lost the same
 * process do not all return at once.
 *
 * @param failures connections that have failed in a row, from 1
 */
export function backoffMs(failures: number, random: () => number = Math.random): number {
  return random() * Math.min(MAX_MS, FIRST_MS * 2 ** (failures - 1));
}

/** Longest wait that a server can ask for. A timer of more than 24 days would fire at once. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * Read a `Retry-After` header: seconds, or a date.
 *
 * @returns milliseconds; 0 when there is no header, or an invalid one
 * @see RFC 9110 §10.2.3
 */
export function retryAfterMs(header: string | undefined, now = Date.now()): number {
  if (header === undefined) return 0;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Math.max(0, Math.min(MAX_RETRY_AFTER_MS, ms || 0));
}
