import { YardmasterError } from '@yardmaster/protocol';
import { TimeoutQueue } from '@yardmaster/redis';
import type { Store } from '@yardmaster/store';

/** How much longer a request may take than one command, milliseconds: a request may need several commands. */
const MORE_MS = 300;

/** Timeout queues that nearly every request uses, by their length in milliseconds. */
const budgets = new Map<number, TimeoutQueue>();

/**
 * How long Redis may take over one request, milliseconds: 1.8 s by default, so that a client gets its response within 2
 * s.
 */
export function redisBudgetMs({ settings }: Store): number {
  const ms = settings.redisTimeoutMs + MORE_MS;
  if (!budgets.has(ms)) budgets.set(ms, new TimeoutQueue(ms));
  return ms;
}

const nothing = () => undefined;

function beginTimeout(ms: number, onEnd: () => void): { clear(): void } {
  const budget = budgets.get(ms);
  if (budget !== undefined) return budget.begin(onEnd);
  const timer = setTimeout(onEnd, Math.max(0, ms));
  return { clear: () => clearTimeout(timer) };
}

/**
 * Wait for a call of the store for a limited time. One command has a timeout of its own, but a request may need
 * several commands.
 *
 * @param onSettled called when the call itself has ended, in time or not
 * @throws UNAVAILABLE when the time is over; the call may still take effect
 */
export function rejectAfter<T>(ms: number, call: Promise<T>, onSettled: () => void = nothing): Promise<T> {
  // This is built by hand, because Promise.race inside an async function costs a call three more promises.
  return new Promise((resolve, reject) => {
    const timeout = beginTimeout(ms, () => reject(new YardmasterError('UNAVAILABLE')));
    call.then(
      (value) => {
        timeout.clear();
        onSettled();
        resolve(value);
      },
      (error) => {
        timeout.clear();
        onSettled();
        reject(error);
      },
    );
  });
}
