export interface WaitOptions {
  /** Whether an error means that Redis is not there yet. */
  isUnavailable: (error: unknown) => boolean;
  /** Told of an error that is another than the one before. */
  onWait: (error: unknown) => void;
  /** Ends the waiting: the error is thrown. */
  signal: AbortSignal;
}

/** Keep trying until Redis is there. */
export async function onceReachable<T>(attempt: () => Promise<T>, options: WaitOptions): Promise<T> {
  const { isUnavailable, onWait, signal } = options;
  for (let said = ''; ; ) {
    try {
      return await attempt();
    } catch (error) {
      if (!isUnavailable(error) || signal.aborted) throw error;
      const cause = String((error as Error).cause ?? error);
      if (cause !== said) onWait(error);
      said = cause;
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
