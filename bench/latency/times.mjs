// How long things took, by name.

/** What is begun between two moments counts. */
export function createTimes({ from, to }) {
  const byName = new Map();
  return {
    add(name, dueAt, at) {
      if (name === null || dueAt < from || dueAt >= to) return;
      if (!byName.has(name)) byName.set(name, []);
      byName.get(name).push(at - dueAt);
    },
    figures: () => Object.fromEntries([...byName].map(([name, times]) => [name, percentilesOf(times)])),
  };
}

/** Milliseconds; p999 of fewer than a thousand is the longest. */
function percentilesOf(times) {
  const sorted = times.sort((a, b) => a - b);
  const at = (share) => Number(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].toFixed(3));
  return {
    count: sorted.length,
    p50Ms: at(0.5),
    p90Ms: at(0.9),
    p99Ms: at(0.99),
    p999Ms: at(0.999),
    maxMs: at(1),
  };
}
