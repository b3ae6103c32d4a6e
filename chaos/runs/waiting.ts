import { setTimeout as delay } from 'node:timers/promises';

/** Wait for a promise with a timeout. @returns null after the timeout */
export async function within<T>(ms: number, something: Promise<T>): Promise<T | null> {
  const timer = new AbortController();
  try {
    return await Promise.race([something, delay(ms, null, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}

/** Repeat an action with a pause after each run. @returns function that stops it and resolves once it has ended */
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
