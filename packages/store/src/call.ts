import { YardmasterError } from '@yardmaster/protocol';
import { fromRedisError } from '@yardmaster/redis';
import type { Change } from './changes.js';
import type { Store } from './store.js';

/**
 * Await a command that is not a script, convert its errors, and report it to the observer.
 *
 * @param name of the command
 */
export async function call<T>({ observer }: Store, name: string, reply: Promise<T>): Promise<T> {
  const began = performance.now();
  try {
    return await reply;
  } catch (error) {
    throw callError(observer, error);
  } finally {
    observer.called(name, performance.now() - began);
  }
}

/** Convert the error of a call to Redis, report it to the observer, and return it. */
export function callError(observer: StoreObserver, thrown: unknown): unknown {
  const error = fromRedisError(thrown);
  const errorClass = errorClassOf(error);
  if (errorClass !== null) observer.failed(errorClass);
  return error;
}

/**
 * Return the class of an error that `fromRedisError` returned.
 *
 * @returns null for a refusal by a script, which is no error of Redis
 */
function errorClassOf(error: unknown): RedisErrorClass | null {
  if (!(error instanceof YardmasterError)) return 'other';
  if (error.code === 'STORAGE_FULL') return 'full';
  if (error.code !== 'UNAVAILABLE') return null;
  const { name, message, code } = error.cause as Error & { code?: string }; // Every converted error has a cause.
  if (/^(Command timed out|Socket timeout)/.test(message) || code === 'ETIMEDOUT') return 'timeout';
  // Redis replied that it is unable to do this; errors of ioredis have other names.
  return name === 'ReplyError' || /^[A-Z]{4,} /.test(message) ? 'busy' : 'connection';
}

/** Class of a failed call to Redis: no reply in time, no connection, unable at the moment, no memory left. */
export const REDIS_ERROR_CLASSES = ['timeout', 'connection', 'busy', 'full', 'other'] as const;

export type RedisErrorClass = (typeof REDIS_ERROR_CLASSES)[number];

/** Observer of the store's verbs. Its functions must be quick and must not throw. */
export interface StoreObserver {
  /** A call to Redis has ended, well or not. `name` is the script's or the command's. */
  called(name: string, ms: number): void;
  /** A call to Redis has ended badly. */
  failed(errorClass: RedisErrorClass): void;
  /** A call has changed jobs. Heartbeats, which change nothing but the deadline, are not reported. */
  changed(change: Change): void;
  /** A poll has claimed this many jobs. */
  polled(jobs: number): void;
  /** A worker's call without a delivery token took effect in an attempt after the first. */
  unfenced(): void;
  /** Deadlines were processed in one step, the oldest of them this late. */
  expired(lagMs: number): void;
  /** Waiting jobs that were due were made pending or dead in one step, the earliest of them this late. */
  promoted(lagMs: number): void;
  /** Log entries were appended. */
  logged(entries: number): void;
  /** A batch of logs was refused, because there was no room for it. */
  refusedLogs(): void;
  /** A search in logs ended before its page was full and before it had read all entries. */
  cutSearchShort(): void;
}

const nothing = () => undefined;

/** An observer that ignores everything. */
export const NO_OBSERVER: StoreObserver = {
  called: nothing,
  failed: nothing,
  changed: nothing,
  polled: nothing,
  unfenced: nothing,
  expired: nothing,
  promoted: nothing,
  logged: nothing,
  refusedLogs: nothing,
  cutSearchShort: nothing,
};
