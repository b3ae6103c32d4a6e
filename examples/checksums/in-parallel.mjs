/** Run `act` on every item, at most `limit` at a time. After the first failure, no further item begins. */
export async function inParallel(items, limit, act) {
  const rest = items.values();
  let failed = false;
  const lane = async () => {
    // The lanes share one iterator: each item goes to a free lane.
    for (const item of rest) {
      if (failed) return;
      await act(item);
    }
  };
  const lanes = Array.from({ length: Math.min(limit, items.length) }, lane);
  await Promise.all(lanes).catch((error) => {
    failed = true;
    throw error;
  });
}
