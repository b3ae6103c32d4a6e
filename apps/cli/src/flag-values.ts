import { bodyFilter } from '@yardmaster/protocol';
import { parseSeconds } from '@yardmaster/sdk/internal/durations';
import { InvalidArgumentError } from 'commander';

/** Longest timer, in seconds. setTimeout takes 31 bits of milliseconds. */
const MAX_WAIT_SECONDS = 2_000_000;

/** Return a parser for a number. It throws an InvalidArgumentError that states the rule. */
function numberIf(accepts: (number: number, text: string) => boolean, rule: string): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (text.trim() !== '' && accepts(number, text)) return number;
    throw new InvalidArgumentError(`Expected ${rule}.`);
  };
}

const A_DURATION = 'a number of seconds, or a duration such as 30s, 5m or 2d';

/** Return a parser for a duration: a number of seconds, or a number with a unit. The result is in seconds. */
const durationIf = (accepts: (seconds: number) => boolean, rule: string) => (text: string) => {
  const seconds = parseSeconds(/^[\d.]+$/.test(text) ? Number(text) : text);
  if (seconds !== null && accepts(seconds)) return seconds;
  throw new InvalidArgumentError(`Expected ${rule}.`);
};

/** Read a time limit. @returns seconds */
export const waitSecondsOf = durationIf(
  (seconds) => seconds > 0 && seconds <= MAX_WAIT_SECONDS,
  `${A_DURATION}, above 0 and at most ${MAX_WAIT_SECONDS} s`,
);

/** Read the duration of a timer, which may be 0. @returns seconds */
export const drainSecondsOf = durationIf(
  (seconds) => seconds <= MAX_WAIT_SECONDS,
  `${A_DURATION}, at most ${MAX_WAIT_SECONDS} s`,
);

/** Read a duration, which may be 0. The service checks all other limits. @returns seconds */
export const secondsOf = durationIf(() => true, A_DURATION);

/** Return a parser for a moment: the form that `read` accepts, or ISO 8601 as the service accepts it. */
const momentIf = (rule: string, read: (text: string) => number | null) => (text: string) => {
  const ms = read(text);
  if (ms !== null) return new Date(ms).toISOString();
  if (bodyFilter.createdAfter.safeParse(text).success) return text;
  throw new InvalidArgumentError(`Expected ${rule}.`);
};

/** Return a reader for a duration before (-1) or after (1) the current time of this machine. */
const fromNow = (sign: -1 | 1) => (text: string) => {
  const seconds = parseSeconds(text);
  return seconds === null ? null : Date.now() + sign * seconds * 1_000;
};

/** Read a moment. @returns ISO 8601 */
export const momentOf = momentIf('ISO 8601 with a time zone', () => null);

/** Accepted forms of a moment in the past, for help texts. */
export const PAST_MOMENT = 'ISO 8601 with a time zone, or how long ago, such as 2h';

/** Read a moment, or how long ago it was. @returns ISO 8601 */
export const pastMomentOf = momentIf(PAST_MOMENT, fromNow(-1));

/** Read a moment, or how far in the future it is. @returns ISO 8601 */
export const futureMomentOf = momentIf('ISO 8601 with a time zone, or a time from now, such as 12h or 30d', fromNow(1));

/** Read a number above 0. The service checks all other limits. */
export const numberAbove0 = numberIf((number) => number > 0 && number < Number.POSITIVE_INFINITY, 'a number above 0');

/** Read a whole number. */
export const countOf = numberIf(
  (count, text) => /^\d+$/.test(text) && Number.isSafeInteger(count),
  'a whole number, 0 or above',
);

/** Read a whole number that may be negative. */
export const integerOf = numberIf(
  (number, text) => /^-?\d+$/.test(text) && Number.isSafeInteger(number),
  'a whole number',
);

/** Return a parser for a whole number between two limits. */
export const countBetween = (min: number, max: number) =>
  numberIf((count, text) => /^\d+$/.test(text) && count >= min && count <= max, `a whole number from ${min} to ${max}`);

/** Append a value of a repeatable option. */
export const repeated = (value: string, before: string[] = []): string[] => [...before, value];
