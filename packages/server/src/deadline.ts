import { YardmasterError } from '@yardmaster/protocol';
import { TimeoutQueue } from '@yardmaster/redis';
import type { Store } from '@yardmaster/store';

/** How much longer a request may take than a command, milliseconds: a request may need several commands. */
const MORE_MS = 300;

/** Timeout queues that almost every request uses, by duration in milliseconds. */
const budgets = new Map<number, TimeoutQueue>();

/** Return how long Redis may take for a request, milliseconds: 1.8 s by default, so that clients get a response within 2 s. */
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
 * Limit how long to wait for a call of the store. Each command has its own timeout, but a request may need several.
 *
 * @param onSettled called when the call itself has ended, in time or not
 * @throws UNAVAILABLE if the time is up; the call may still take effect
 */
export function rejectAfter<T>(ms: number, call: Promise<T>, onSettled: () => void = nothing): Promise<T> {
  // Written by hand, because Promise.race in an async function costs three more promises per call.
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
