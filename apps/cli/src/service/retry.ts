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
