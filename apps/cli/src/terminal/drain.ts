import { once } from 'node:events';

/**
 * Wait until the reader of the output can take more, but only until the signal is aborted, because it may have stopped
 * reading.
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
