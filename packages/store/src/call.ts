import { YardmasterError } from '@yardmaster/protocol';
import { fromRedisError } from '@yardmaster/redis';
import type { RedisErrorClass, StoreObserver } from './observer.js';
import type { Store } from './store.js';

/**
 * Await a command that is not a script, convert its errors, and report it to the observer.
 *
 * @param name name of the command
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

/** Convert an error of a Redis call, report it to the observer, and return it. */
export function callError(observer: StoreObserver, thrown: unknown): unknown {
  const error = fromRedisError(thrown);
  const errorClass = errorClassOf(error);
  if (errorClass !== null) observer.failed(errorClass);
  return error;
}

/**
 * Return the class of an error that `fromRedisError` returned.
 *
 * @returns null for a refusal by a script, which is not a Redis error
 */
function errorClassOf(error: unknown): RedisErrorClass | null {
  if (!(error instanceof YardmasterError)) return 'other';
  if (error.code === 'STORAGE_FULL') return 'full';
  if (error.code !== 'UNAVAILABLE') return null;
  const { name, message, code } = error.cause as Error & { code?: string }; // Every converted error has a cause.
  if (/^(Command timed out|Socket timeout)/.test(message) || code === 'ETIMEDOUT') return 'timeout';
  // A reply from Redis means that it cannot run the command now; errors of ioredis have other names.
  return name === 'ReplyError' || /^[A-Z]{4,} /.test(message) ? 'busy' : 'connection';
}
