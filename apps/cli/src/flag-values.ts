import { InvalidArgumentError } from 'commander';

/** Longest time of a timer, because setTimeout takes 31 bits of milliseconds. */
const MAX_WAIT_SECONDS = 2_000_000;

/** Make a parser of a number. It throws an InvalidArgumentError that states the rule. */
function numberIf(accepts: (number: number, text: string) => boolean, rule: string): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (text.trim() !== '' && accepts(number, text)) return number;
    throw new InvalidArgumentError(`It must be ${rule}.`);
  };
}

/** Read a time limit in seconds. */
export const waitSecondsOf = numberIf(
  (seconds) => seconds > 0 && seconds <= MAX_WAIT_SECONDS,
  `a number above 0, at most ${MAX_WAIT_SECONDS}`,
);

/** Read a number of seconds that may be 0. The service knows its other limits. */
export const secondsOf = numberIf(
  (seconds) => seconds >= 0 && seconds < Number.POSITIVE_INFINITY,
  'a number of seconds, 0 or above',
);

/** Read a number above 0. The service knows its other limits. */
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

/** Make a parser of a whole number between two limits. */
export const countBetween = (min: number, max: number) =>
  numberIf((count, text) => /^\d+$/.test(text) && count >= min && count <= max, `a whole number from ${min} to ${max}`);

/** Add one more value of an option that may be repeated. */
export const repeated = (value: string, before: string[] = []): string[] => [...before, value];
