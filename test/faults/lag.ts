/** How long this process was kept from running, so that what it measures of others can be told from its own lateness. */
export interface Lag {
  /** Milliseconds of a span during which it did not get to run. Epoch milliseconds. */
  between(from: number, until: number): number;
  stop(): void;
}

const EVERY_MS = 20;

/** Lateness that every timer has. */
const USUAL_MS = 5;

export function startLag(): Lag {
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
