/**
 * Wait until a condition holds.
 *
 * @throws after `withinMs`, so that a test that waits in vain fails with what it waited for
 */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited ${withinMs} ms in vain for: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
