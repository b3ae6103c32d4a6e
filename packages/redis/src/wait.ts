export interface WaitOptions {
  /** Whether an error means that Redis is not there yet. */
  isUnavailable: (error: unknown) => boolean;
  /** Return why Redis is not there, for people. */
  reasonOf: (error: unknown) => string;
  /** Called with a reason that differs from the one before. */
  onWait: (reason: string) => void;
  /** Ends the waiting: the latest error is thrown. */
  signal: AbortSignal;
}

/** Keep trying until Redis is there. */
export async function onceReachable<T>(attempt: () => Promise<T>, options: WaitOptions): Promise<T> {
  const { isUnavailable, reasonOf, onWait, signal } = options;
  for (let said = ''; ; ) {
    try {
      return await attempt();
    } catch (error) {
      if (!isUnavailable(error) || signal.aborted) throw error;
      const reason = reasonOf(error);
      if (reason !== said) onWait(reason);
      said = reason;
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
