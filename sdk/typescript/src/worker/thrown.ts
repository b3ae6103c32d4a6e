import type { ErrorObject } from '../error-text.js';
import { jsonOf } from '../json.js';

/** Maximum size of an error, in bytes of JSON. The service accepts 64 KB, but lists and dashboards show many errors. */
const MOST_BYTES = 32_768;
/** Maximum length of a message, in characters; a stack may be twice as long. Halved until the error fits. */
const MOST_CHARACTERS = 8_192;
const LEAST_CHARACTERS = 64;
const MOST_NAME = 200;
const MOST_ERRORS = 10;
const MOST_LEVELS = 5;
export const UNREADABLE = 'The error cannot be read';

/** Stack frames that don't help the author of a handler: those of Node.js and of this SDK. */
const INNER_FRAME = /\(?node:internal|[\\/](@yardmaster[\\/]sdk|sdk[\\/]typescript)[\\/]dist[\\/]/;

/** Return the length of a string in bytes of UTF-8. */
export const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/**
 * Describe a thrown value, which can be anything and may throw while it is read.
 *
 * @returns at most 32 KB of JSON: an error with its stack and causes, or a plain object unchanged
 */
export function describe(thrown: unknown): ErrorObject {
  const kept = read(() => plainOf(thrown), null);
  if (kept !== null) return kept;
  for (let limit = MOST_CHARACTERS; ; limit /= 2) {
    const error = new Description(limit).of(thrown, 1);
    if (limit <= LEAST_CHARACTERS || bytesOf(JSON.stringify(error)) <= MOST_BYTES) return error;
  }
}

/** Return a plain object as the service would store it; null for anything else and for objects that are too large. */
function plainOf(thrown: unknown): ErrorObject | null {
  if (typeof thrown !== 'object' || thrown === null) return null;
  const prototype = Object.getPrototypeOf(thrown);
  if (prototype !== Object.prototype && prototype !== null) return null;
  const text = jsonOf(thrown, 'error');
  return bytesOf(text) <= MOST_BYTES ? (JSON.parse(text) as ErrorObject) : null;
}

/** One attempt to describe an error within a limit. */
class Description {
  readonly #limit: number;
  readonly #seen = new Set<unknown>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  of(thrown: unknown, level: number): ErrorObject {
    this.#seen.add(thrown);
    const stack = this.#stackOf(read(() => (thrown as Error).stack, null));
    const causes = level < MOST_LEVELS ? this.#causesOf(thrown, level) : [];
    return {
      name: cut(
        read(() => nameOf(thrown), 'Error'),
        MOST_NAME,
      ),
      message: cut(
        read(() => messageOf(thrown), UNREADABLE),
        this.#limit,
      ),
      ...(stack !== '' && { stack }),
      ...(causes.length > 0 && { causes }),
    };
  }

  #causesOf(thrown: unknown, level: number): ErrorObject[] {
    const cause = read(() => (thrown as Error).cause, undefined);
    const members = read(() => membersOf(thrown), []);
    const causes: ErrorObject[] = [];
    for (const each of cause === undefined || cause === null ? members : [cause, ...members])
      if (!this.#seen.has(each) && this.#seen.size < MOST_ERRORS) causes.push(this.of(each, level + 1));
    return causes;
  }

  #stackOf(stack: unknown): string {
    if (typeof stack !== 'string') return '';
    const frames = stack.split('\n').filter((line) => /^\s+at /.test(line) && !INNER_FRAME.test(line));
    return cut(frames.join('\n'), 2 * this.#limit);
  }
}

function membersOf(thrown: unknown): unknown[] {
  const { errors } = thrown as AggregateError;
  return Array.isArray(errors) ? errors.slice(0, MOST_ERRORS) : [];
}

/** Read a value, or return the alternative if reading throws. */
function read<T>(get: () => T, otherwise: T): T {
  try {
    return get();
  } catch {
    return otherwise;
  }
}

function nameOf(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return 'Error';
  const { name } = thrown as Error;
  return (typeof name === 'string' && name) || thrown.constructor?.name || 'Object';
}

function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return textOf(thrown);
  const { message, code } = thrown as NodeError;
  return textOf(message ?? '') || textOf(code ?? ''); // If all addresses of a host refuse a connection, there is only a code.
}

type NodeError = Error & { code?: unknown };

const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? (read(() => jsonOf(value, 'error'), null) ?? String(value))
    : String(value);

/** Shorten a string without splitting a surrogate pair. */
function cut(text: string, most: number): string {
  const kept = text.length > most ? `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')} …` : text;
  return kept.toWellFormed();
}
