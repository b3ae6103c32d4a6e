import { YardmasterError } from '@yardmaster/protocol';
import { EqualTimeouts } from '@yardmaster/runtime';
import type { Store } from '@yardmaster/store';

/** How much longer a request may take than one command, in milliseconds: it may need several. */
const MORE_MS = 300;

/** Time-outs that nearly every request begins, by their length. */
const budgets = new Map<number, EqualTimeouts>();

/** How long Redis may take over one request, in milliseconds: by default 1.8 s, so that its caller hears within 2 s. */
export function redisBudgetMs({ settings }: Store): number {
  const ms = settings.redisTimeoutMs + MORE_MS;
  if (!budgets.has(ms)) budgets.set(ms, new EqualTimeouts(ms));
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
 * Wait for a call of the store, but no longer than this. One command has a time-out of its own; a request may need
 * several.
 *
 * @param onSettled called when the call itself has ended, in time or not
 * @throws UNAVAILABLE when the time is over; the call may still take effect
 */
export function within<T>(ms: number, call: Promise<T>, onSettled: () => void = nothing): Promise<T> {
  // By hand: Promise.race and an async function around it cost a call three promises more.
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
