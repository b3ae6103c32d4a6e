import { YardmasterError } from '@yardmaster/protocol';

/** How long Redis may take over one request, in milliseconds: whoever calls hears within two seconds. */
export const REDIS_BUDGET_MS = 1_800;

/**
 * Wait for a call of the store, but no longer than this. One command has a time-out of its own; a request may need
 * several.
 *
 * @throws UNAVAILABLE when the time is over; the call may still take effect
 */
export async function within<T>(ms: number, call: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new YardmasterError('UNAVAILABLE')), Math.max(0, ms));
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}
