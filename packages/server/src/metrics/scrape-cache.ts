/** Two scrapes within this time share one result, milliseconds. */
const FRESH_MS = 1_000;

/**
 * How long a scrape waits, milliseconds, so that it has its response within two seconds also when Redis does not reply.
 */
const WITHIN_MS = 1_500;

/**
 * Share the values read from Redis for a scrape: one read at a time, however many clients scrape, and none when one was
 * just made.
 *
 * @returns a function that resolves to the value, or to null when it could not be read, or not in time, because an old
 *   value must not look new
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
      return null; // The connection logs the error.
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
