import { YardmasterError } from './errors.js';

const FIRST_MS = 100;
const MOST_MS = 5_000;

/** Chooses the wait before the next try of a call: from 0.1 s, doubling up to 5 s, with half of it random. */
export class Backoff {
  failures = 0;

  /** Return the wait after a failure, in milliseconds. It is never shorter than the Retry-After of the service. */
  next(error: unknown): number {
    const ceiling = Math.min(FIRST_MS * 2 ** Math.min(this.failures++, 10), MOST_MS);
    const wait = (ceiling / 2) * (1 + Math.random());
    const after = error instanceof YardmasterError ? error.retryAfterMs : 0;
    return after > wait ? after * (1 + Math.random() / 10) : wait;
  }
}

/** Wait. @returns false if the signal is aborted first */
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
