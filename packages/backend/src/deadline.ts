import { YardmasterError } from '@yardmaster/protocol';

/** How long Redis may take over one request, in milliseconds: whoever calls hears within two seconds. */
export const REDIS_BUDGET_MS = 1_800;

/**
 * Wait for a call of the store, but no longer than this. One command has a time-out of its own; a request may need
 * several.
 *
 * @throws UNAVAILABLE when the time is over; the call may still take effect
 */
export function within<T>(ms: number, call: Promise<T>): Promise<T> {
  // By hand: Promise.race and an async function around it cost a call three promises more.
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new YardmasterError('UNAVAILABLE')), Math.max(0, ms));
    call.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
