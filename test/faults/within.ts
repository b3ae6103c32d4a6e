/** Wait for something, but no longer than this. @returns null when it did not come */
export async function within<T>(ms: number, something: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null);
  });
  try {
    return await Promise.race([something, late]);
  } finally {
    clearTimeout(timer);
  }
}
