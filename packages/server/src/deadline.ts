import { YardmasterError } from '@yardmaster/protocol';
import type { Store } from '@yardmaster/store';

/** How much longer a request may take than one command, milliseconds: a request may need several commands. */
const MORE_MS = 300;

/** Return how long Redis may take over one request, milliseconds: 1.8 s by default, so that a client has its response within 2 s. */
export const redisBudgetMs = ({ settings }: Store): number => settings.redisTimeoutMs + MORE_MS;

const nothing = () => undefined;

/**
 * Wait for a call of the store for a limited time. One command has a time-out of its own, but a request may need
 * several commands.
 *
 * @param onSettled called when the call itself has ended, in time or not
 * @throws UNAVAILABLE when the time is over; the call may still take effect
 */
export function within<T>(ms: number, call: Promise<T>, onSettled: () => void = nothing): Promise<T> {
  // Built by hand, because Promise.race inside an async function costs a call three more promises.
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new YardmasterError('UNAVAILABLE')), Math.max(0, ms));
    call.then(
      (value) => {
        clearTimeout(timer);
        onSettled();
        resolve(value);
      },
      (error) => {
        clearTimeout(timer);
        onSettled();
        reject(error);
      },
    );
  });
}
