/** Default limit of `until`, milliseconds. The mutation suite lowers it, because most of its tests are expected to fail. */
const LIMIT_MS = Number(process.env.TEST_WAIT_SECONDS ?? 60) * 1000;

/**
 * Wait until a condition is true.
 *
 * @throws if the condition is still false after `withinMs`; the message shows the condition
 */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = LIMIT_MS): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not true within ${withinMs} ms: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
