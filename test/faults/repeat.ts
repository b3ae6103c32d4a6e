import { setTimeout as delay } from 'node:timers/promises';

/**
 * Do something again and again, the next time so long after it was done.
 *
 * @returns what ends it, which resolves once it is no longer under way
 */
export function repeat(pauseMs: number, act: () => Promise<unknown>): () => Promise<void> {
  let isOver = false;
  async function go(): Promise<void> {
    while (!isOver) {
      await act();
      await delay(pauseMs);
    }
  }
  const going = go();
  going.catch(() => undefined); // Told by whoever ends it.
  return async () => {
    isOver = true;
    await going;
  };
}
