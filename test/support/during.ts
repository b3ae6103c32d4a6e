import type * as Jest from '@jest/globals';

// From the globals, not imported: modules that import this file are also loaded without Jest.
const { afterAll, beforeAll } = globalThis as unknown as typeof Jest;

/** Stop functions, in order of start. */
const stops: (() => Promise<unknown>)[] = [];

/**
 * Start something before the tests of the file, or of the `describe` block, and stop it after them. Call it where the
 * tests are declared. Jest runs `afterAll` in the order of declaration; this stops the latest start first.
 *
 * @returns an object that gets the own fields of what `start` returns, once it has run. `start` must return a plain
 *   object: methods of a class are not copied, and a getter is read only once
 */
export function during<T extends object>(start: () => Promise<T>, stop: (started: T) => Promise<unknown>): T {
  const started = {} as T;
  beforeAll(async () => {
    let isRunning = false;
    stops.push(async () => isRunning && stop(started)); // Also when the start fails: each `afterAll` below pops one.
    Object.assign(started, await start());
    isRunning = true;
  });
  afterAll(() => stops.pop()?.());
  return started;
}
