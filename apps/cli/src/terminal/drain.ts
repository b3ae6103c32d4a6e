import { once } from 'node:events';

/**
 * Wait until the reader of the output can take more, or until the signal aborts: the reader may have stopped reading.
 *
 * @throws the reason of the signal if it aborts
 */
export async function unlessAborted(wait: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([wait, once(signal, 'abort', { signal: over.signal })]);
  } finally {
    over.abort();
  }
  signal.throwIfAborted();
}
