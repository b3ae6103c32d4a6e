import { YardmasterError } from './errors.js';

const FIRST_MS = 100;
const MOST_MS = 5_000;

/** Chooses how long to wait before a call is sent again: 0.1 s, doubled up to 5 s, of which half is random. */
export class Backoff {
  failures = 0;

  /** Return the wait after a failure in milliseconds. The Retry-After of the service is never cut short. */
  next(error: unknown): number {
    const ceiling = Math.min(FIRST_MS * 2 ** Math.min(this.failures++, 10), MOST_MS);
    const wait = (ceiling / 2) * (1 + Math.random());
    const after = error instanceof YardmasterError ? error.retryAfterMs : 0;
    return after > wait ? after * (1 + Math.random() / 10) : wait;
  }
}

/** Wait. @returns false when the signal is aborted before */
export function pause(ms: number, signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isOver: boolean) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      resolve(isOver);
    };
    const abort = () => end(false);
    const timer = setTimeout(end, ms, true);
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
  });
}
