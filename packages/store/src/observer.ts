import { type Status, YardmasterError } from '@yardmaster/protocol';

/** What went wrong with a call to Redis: no answer in time, no connection, not able just now, no memory left. */
export const REDIS_ERROR_CLASSES = ['timeout', 'connection', 'busy', 'full', 'other'] as const;

export type RedisErrorClass = (typeof REDIS_ERROR_CLASSES)[number];

/** Where a job is moved from and to; `none` before its creation and after its purge. */
export type Whereabouts = Status | 'none';

/**
 * Told of what the store's verbs did, once it is done, by the process that did it. Its functions must be quick and must
 * not throw. A call whose answer was lost may have taken effect, and is told of as an error only.
 */
export interface StoreObserver {
  /** A call to Redis has ended, well or not. `name` is the script's or the command's. */
  called(name: string, ms: number): void;
  /** It ended badly. */
  failed(errorClass: RedisErrorClass): void;
  /** Jobs changed their status. Signs of life, which change nothing but the deadline, are not told. */
  moved(from: Whereabouts, to: Whereabouts, jobs: number): void;
  /** A poll or a claim was answered, with this many jobs. */
  handedOut(by: 'poll' | 'claim', jobs: number): void;
  /** Deadlines were met in one step; the oldest of them was this late. */
  met(lateMs: number): void;
  /** Log entries were appended. */
  logged(entries: number): void;
  /** A batch of logs was refused, since there was no room for it. */
  refusedLogs(): void;
  /** A search in logs ended before its page was full and before it had seen them all. */
  cutSearchShort(): void;
}

const nothing = () => undefined;

/** Whom nothing interests. */
export const NOBODY: StoreObserver = {
  called: nothing,
  failed: nothing,
  moved: nothing,
  handedOut: nothing,
  met: nothing,
  logged: nothing,
  refusedLogs: nothing,
  cutSearchShort: nothing,
};

/**
 * Class of an error, as `fromRedisError` gives it.
 *
 * @returns null for a refusal that a script gave, which is no error of Redis'
 */
export function redisErrorClassOf(error: unknown): RedisErrorClass | null {
  if (!(error instanceof YardmasterError)) return 'other';
  if (error.code === 'STORAGE_FULL') return 'full';
  if (error.code !== 'UNAVAILABLE') return null;
  const { name, message, code } = error.cause as Error & { code?: string }; // Whatever is turned has one.
  if (/^(Command timed out|Socket timeout)/.test(message) || code === 'ETIMEDOUT') return 'timeout';
  // Redis answered, and said that it cannot; what ioredis says has other names.
  return name === 'ReplyError' || /^[A-Z]{4,} /.test(message) ? 'busy' : 'connection';
}

/** Tell an observer how a call failed, and return the error. */
export function toldError(observer: StoreObserver, error: unknown): unknown {
  const errorClass = redisErrorClassOf(error);
  if (errorClass !== null) observer.failed(errorClass);
  return error;
}

/** Tell an observer of a call to Redis: how long it took, and how it failed. */
export async function observed<T>(observer: StoreObserver, name: string, call: Promise<T>): Promise<T> {
  const began = performance.now();
  try {
    return await call;
  } catch (error) {
    throw toldError(observer, error);
  } finally {
    observer.called(name, performance.now() - began);
  }
}
