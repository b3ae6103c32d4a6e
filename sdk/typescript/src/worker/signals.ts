/** Wakes one waiting function. A wake-up before the wait counts. */
export class WakeUp {
  #isDue = false;
  #resolve: (() => void) | null = null;

  wake(): void {
    this.#isDue = true;
    this.#resolve?.();
  }

  /** Wait for a wake-up, or for the signal. */
  async wait(signal?: AbortSignal): Promise<void> {
    if (this.#isDue || signal?.aborted) {
      this.#isDue = false;
      return;
    }
    let resolve: () => void = () => undefined;
    const promise = new Promise<void>((done) => {
      resolve = done;
    });
    this.#resolve = resolve;
    signal?.addEventListener('abort', resolve as () => void, { once: true });
    await promise;
    signal?.removeEventListener('abort', resolve as () => void);
    this.#isDue = false;
  }
}

/** Wait for a promise that never rejects, but no longer than this. */
export async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  let resolve: () => void = () => undefined;
  const over = new Promise<void>((done) => {
    resolve = done;
  });
  const timer = setTimeout(resolve, ms);
  await Promise.race([promise, over]);
  clearTimeout(timer);
}
