import { setTimeout as delay } from 'node:timers/promises';

/** Wait for a promise, but no longer than this. @returns null when it took longer */
export async function within<T>(ms: number, something: Promise<T>): Promise<T | null> {
  const timer = new AbortController();
  try {
    return await Promise.race([something, delay(ms, null, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}

/** Repeat an action, with a pause after each time. @returns a function that stops it, which resolves once it has ended */
export function repeat(pauseMs: number, act: () => Promise<unknown>): () => Promise<void> {
  let isOver = false;
  const going = (async () => {
    for (; !isOver; await delay(pauseMs)) await act();
  })();
  going.catch(() => undefined); // The returned function reports it.
  return async () => {
    isOver = true;
    await going;
  };
}
