/** How long a test waits, milliseconds. Generous, for a busy machine; where many are to fail, less saves time. */
const PATIENCE_MS = Number(process.env.TEST_PATIENCE_SECONDS ?? 60) * 1000;

/**
 * Wait until a condition holds.
 *
 * @throws after `withinMs`, so that a test that waits in vain fails with what it waited for
 */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = PATIENCE_MS): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited ${withinMs} ms in vain for: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
