/** A time span, epoch milliseconds. */
export interface Span {
  from: number;
  until: number;
}

export const lengthOf = ({ from, until }: Span) => until - from;

/** Return the span in which a stall of the machine may have broken a connection to Redis or to a client. */
export const before = (at: number): Span => ({ from: at - 5_000, until: at });

/** Close codes of a stream whose gateway, or whose gateway's Redis, did not respond in time. */
const OF_STALLS: readonly (number | null)[] = [1006, 1012];

/** Return the span in which a stall of the machine may have caused a close with this code; none for other codes. */
export const closeDuring = (code: number | null, at: number): { during?: Span } =>
  OF_STALLS.includes(code) ? { during: before(at) } : {};

/** How long this process was stalled, which distinguishes a slow machine from a slow service. */
export interface Stalls {
  between(from: number, until: number): number; // Milliseconds of a span in which this process was stalled.
  stop(): void;
}

const EVERY_MS = 20;
const USUAL_MS = 5; // Every timer is late by this much.

/** Start measuring stalls. */
export function measureStalls(): Stalls {
  const late: { at: number; ms: number }[] = [];
  let expected = performance.now() + EVERY_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - expected > USUAL_MS) late.push({ at: Date.now(), ms: now - expected });
    expected = now + EVERY_MS;
  }, EVERY_MS);
  return {
    between: (from, until) =>
      Math.round(late.filter(({ at }) => at >= from && at <= until).reduce((sum, { ms }) => sum + ms, 0)),
    stop: () => clearInterval(timer),
  };
}

const STALLED_SHARE = 0.1; // The processes of the service wait for the same cores as this one.

/** Check whether the machine was so busy that a deadline in this span proves nothing about the service. */
export const wasStalled = (stalls: Stalls, span: Span): boolean =>
  stalls.between(span.from, span.until) > STALLED_SHARE * lengthOf(span);
