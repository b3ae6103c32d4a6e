import { observed } from './observer.js';
import { asked } from './redis-errors.js';
import type { Store } from './store.js';

/**
 * Await a command that is not a script: its errors turned, its observer told.
 *
 * @param name of the command
 */
export function ask<T>({ observer }: Store, name: string, reply: Promise<T>): Promise<T> {
  return observed(observer, name, asked(reply));
}
