import type * as Jest from '@jest/globals';

// Not imported: scripts that run without Jest load modules that use this one.
const { afterAll, beforeAll } = globalThis as unknown as typeof Jest;

/** How to stop what runs, the latest start last. */
const stops: (() => Promise<unknown>)[] = [];

/**
 * Start something before the tests of the file, or of the `describe` block, and stop it after them. Call it where the
 * tests are declared. Jest runs `afterAll` in the order of declaration; this stops the latest start first.
 *
 * @returns an object that gets the fields of what was started once it runs: functions of it must not use `this`
 */
export function during<T extends object>(start: () => Promise<T>, stop: (started: T) => Promise<unknown>): T {
  const started = {} as T;
  beforeAll(async () => {
    let isRunning = false;
    stops.push(async () => isRunning && stop(started)); // In any case: each `afterAll` below takes one off.
    Object.assign(started, await start());
    isRunning = true;
  });
  afterAll(() => stops.pop()?.());
  return started;
}
