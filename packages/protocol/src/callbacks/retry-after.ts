/**
 * Read a `Retry-After` header: seconds, or a date.
 *
 * @param nowMs the time from which a date counts, epoch milliseconds
 * @param longestMs longest wait that is accepted; a longer one is cut to it
 * @returns milliseconds to wait; 0 when there is no header, or an invalid one
 * @see RFC 9110 §10.2.3
 */
export function retryAfterMs(header: string | undefined, nowMs: number, longestMs: number): number {
  if (header === undefined) return 0;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return Math.min(Math.max(ms || 0, 0), longestMs);
}
