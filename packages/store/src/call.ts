import { withRedisErrors } from '@yardmaster/redis';
import { observed } from './observer.js';
import type { Store } from './store.js';

/**
 * Await a command that is not a script, convert its errors, and report it to the observer.
 *
 * @param name of the command
 */
export function call<T>({ observer }: Store, name: string, reply: Promise<T>): Promise<T> {
  return observed(observer, name, withRedisErrors(reply));
}
