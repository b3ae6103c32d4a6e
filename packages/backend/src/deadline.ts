import { YardmasterError } from '@yardmaster/protocol';
import { EqualTimeouts } from '@yardmaster/runtime';

/** How long Redis may take over one request, in milliseconds: whoever calls hears within two seconds. */
export const REDIS_BUDGET_MS = 1_800;

const budgets = new EqualTimeouts(REDIS_BUDGET_MS);

function beginTimeout(ms: number, onEnd: () => void): { clear(): void } {
  // Nearly every request has all of it.
  if (ms === REDIS_BUDGET_MS) return budgets.begin(onEnd);
  const timer = setTimeout(onEnd, Math.max(0, ms));
  return { clear: () => clearTimeout(timer) };
}

/**
 * Wait for a call of the store, but no longer than this. One command has a time-out of its own; a request may need
 * several.
 *
 * @throws UNAVAILABLE when the time is over; the call may still take effect
 */
export function within<T>(ms: number, call: Promise<T>): Promise<T> {
  // By hand: Promise.race and an async function around it cost a call three promises more.
  return new Promise((resolve, reject) => {
    const timeout = beginTimeout(ms, () => reject(new YardmasterError('UNAVAILABLE')));
    call.then(
      (value) => {
        timeout.clear();
        resolve(value);
      },
      (error) => {
        timeout.clear();
        reject(error);
      },
    );
  });
}
