import { isUnavailable } from './errors.js';

/** Time between two attempts, milliseconds. */
const BETWEEN_ATTEMPTS_MS = 250;

/** How long to retry while Redis does not reply: longer than a failover or a restart takes, milliseconds. */
const GIVE_UP_MS = 30_000;

async function retry<T>(attempt: () => Promise<T>, isRetried: (error: unknown) => boolean): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isUnavailable(error) || !isRetried(error)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_ATTEMPTS_MS));
  }
}

/**
 * Retry while Redis does not reply. Use this only for operations that may be done twice: reads, and repairs, which read
 * before they write.
 *
 * @throws UNAVAILABLE after half a minute
 */
export function retryUnavailable<T>(attempt: () => Promise<T>): Promise<T> {
  const end = performance.now() + GIVE_UP_MS;
  return retry(attempt, () => performance.now() <= end);
}

export interface ReachableOptions {
  /** Return why Redis is not reachable, as a text for the log. */
  reasonOf: (error: unknown) => string;
  /** Called with each reason that is new, and every 10 s with the latest. `seconds` is the time waited so far. */
  onWait: (reason: string, seconds: number) => void;
  /** Ends the waiting: the latest error is thrown. */
  signal: AbortSignal;
}

/** How often to report a wait, milliseconds: a log must not look as if nothing were wrong. */
const REPORT_AGAIN_MS = 10_000;

/** Retry until Redis is reachable. */
export function onceReachable<T>(attempt: () => Promise<T>, options: ReachableOptions): Promise<T> {
  const { reasonOf, onWait, signal } = options;
  const began = performance.now();
  const reported = new Set<string>();
  let reportedAt = began;
  return retry(attempt, (error) => {
    if (signal.aborted) return false;
    const reason = reasonOf(error);
    const now = performance.now();
    if (!reported.has(reason) || now - reportedAt > REPORT_AGAIN_MS) {
      onWait(reason, Math.round((now - began) / 1_000));
      reported.add(reason);
      reportedAt = now;
    }
    return true;
  });
}
