import { InvalidArgumentError } from 'commander';

/** Longest time of a timer, because setTimeout takes 31 bits of milliseconds. */
const MAX_WAIT_SECONDS = 2_000_000;

/**
 * Read a time limit in seconds.
 *
 * @throws InvalidArgumentError
 */
export function waitSecondsOf(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && seconds > 0 && seconds <= MAX_WAIT_SECONDS) return seconds;
  throw new InvalidArgumentError(`It must be a number above 0, at most ${MAX_WAIT_SECONDS}.`);
}

/**
 * Read a number of seconds that may be 0. The service knows its other limits.
 *
 * @throws InvalidArgumentError
 */
export function secondsOf(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && seconds >= 0 && seconds < Number.POSITIVE_INFINITY) return seconds;
  throw new InvalidArgumentError('It must be a number of seconds, 0 or above.');
}

/**
 * Read a number above 0. The service knows its other limits.
 *
 * @throws InvalidArgumentError
 */
export function numberAbove0(text: string): number {
  const number = Number(text);
  if (text.trim() !== '' && number > 0 && number < Number.POSITIVE_INFINITY) return number;
  throw new InvalidArgumentError('It must be a number above 0.');
}

/**
 * Read a whole number.
 *
 * @throws InvalidArgumentError
 */
export function countOf(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(count)) return count;
  throw new InvalidArgumentError('It must be a whole number, 0 or above.');
}

/**
 * Read a whole number that may be negative.
 *
 * @throws InvalidArgumentError
 */
export function integerOf(text: string): number {
  const number = Number(text);
  if (/^-?\d+$/.test(text) && Number.isSafeInteger(number)) return number;
  throw new InvalidArgumentError('It must be a whole number.');
}

/**
 * Make a parser of a whole number between two limits.
 *
 * @throws InvalidArgumentError
 */
export function countBetween(min: number, max: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (/^\d+$/.test(text) && count >= min && count <= max) return count;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** Add one more value of an option that may be repeated. */
export const repeated = (value: string, before: string[] = []): string[] => [...before, value];
