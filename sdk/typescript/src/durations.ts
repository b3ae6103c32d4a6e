/** A number of seconds, or a string such as `250ms`, `30s`, `5m`, `2h` or `1d`. */
export type Duration = number | string;

const SECONDS: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3_600, d: 86_400 };

/**
 * Convert a duration to seconds.
 *
 * @param option name of the option, for the error
 * @param most longest allowed duration, in seconds
 * @throws RangeError if the duration is invalid or too long
 */
export function secondsOf(duration: Duration, option: string, most = Number.POSITIVE_INFINITY): number {
  const seconds = parseSeconds(duration);
  if (seconds === null)
    throw new RangeError(`${option} must be a number of seconds or a string such as '30s' or '5m'; got ${duration}`);
  if (seconds > most) throw new RangeError(`${option} must be at most ${most} s; got ${duration}`);
  return seconds;
}

/** Convert a duration to seconds; null if it is invalid. */
export function parseSeconds(duration: Duration): number | null {
  if (typeof duration === 'number') return Number.isFinite(duration) && duration >= 0 ? duration : null;
  const [, amount, unit] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(String(duration).trim()) ?? [];
  const seconds = Number(amount) * (SECONDS[unit ?? ''] ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : null;
}
