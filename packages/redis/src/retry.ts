import { isUnavailable } from './errors.js';

/** Time between two attempts, milliseconds. */
const BETWEEN_ATTEMPTS_MS = 250;

/** How long to retry while Redis does not reply, milliseconds: longer than a failover or restart takes. */
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
 * Retry while Redis does not reply. Use this only for calls that may be repeated: reads, and repairs, which read before they
 * write.
 *
 * @throws UNAVAILABLE after half a minute
 */
export function retryUnavailable<T>(attempt: () => Promise<T>): Promise<T> {
  const end = performance.now() + GIVE_UP_MS;
  return retry(attempt, () => performance.now() <= end);
}

export interface ReachableOptions {
  /** Describes why Redis is not reachable, for the log. */
  reasonOf: (error: unknown) => string;
  /** Called with each new reason, and every 10 seconds with the latest. `seconds` is the time waited so far. */
  onWait: (reason: string, seconds: number) => void;
  /** Stops the retries; the latest error is then thrown. */
  signal: AbortSignal;
}

/** Time between two reports of a wait, milliseconds: a silent log would look as if nothing were wrong. */
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
