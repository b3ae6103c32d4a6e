/** Two who ask within this time share one answer. */
const FRESH_MS = 1_000;

/** Whoever scrapes hears within two seconds, also when Redis does not answer. */
const WITHIN_MS = 1_500;

/**
 * Share what is read from Redis for a scrape: one reading at a time, however many scrape, and none when one has just
 * been made.
 *
 * @returns a function that resolves to what was read, or to null when it could not be read or not in time: what is old
 *   must not look new
 */
export function sharedRead<T>(read: () => Promise<T>): () => Promise<T | null> {
  let last: { value: T; at: number } | null = null;
  let reading: Promise<T | null> | null = null;

  async function readOnce(): Promise<T | null> {
    try {
      const value = await read();
      last = { value, at: performance.now() };
      return value;
    } catch {
      return null; // Shown as such by whoever asks; the connection tells the log.
    } finally {
      reading = null;
    }
  }

  return () => {
    if (last !== null && performance.now() - last.at < FRESH_MS) return Promise.resolve(last.value);
    reading ??= readOnce();
    return orNull(reading);
  };
}

async function orNull<T>(reading: Promise<T | null>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, WITHIN_MS, null);
  });
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
  }
}
