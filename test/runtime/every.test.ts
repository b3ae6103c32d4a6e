import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { every } from '@yardmaster/runtime';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Work that ends when the test says so. */
function work() {
  const ends: (() => void)[] = [];
  const run = () => new Promise<void>((resolve) => ends.push(resolve));
  return { ends, run, end: () => ends.at(-1)?.() };
}

it('repeated work runs once per interval from start to stop', async () => {
  let runs = 0;
  const service = every({ name: 'count', ms: 100, run: () => runs++ });
  await jest.advanceTimersByTimeAsync(1_000);
  expect(runs).toBe(0);
  await service.start();
  await jest.advanceTimersByTimeAsync(99);
  expect(runs).toBe(0);
  await jest.advanceTimersByTimeAsync(201);
  expect(runs).toBe(3);
  await service.stop(1_000);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(runs).toBe(3);
});

it('repeated work does not restart before it has ended', async () => {
  const { ends, run, end } = work();
  const service = every({ name: 'slow', ms: 100, run });
  await service.start();
  await jest.advanceTimersByTimeAsync(450);
  expect(ends).toHaveLength(1);
  end();
  await jest.advanceTimersByTimeAsync(100);
  expect(ends).toHaveLength(2);
});

it('stopping repeated work waits for the current run, and for a last one if requested', async () => {
  const { ends, run, end } = work();
  const service = every({ name: 'flush', ms: 100, run, atStop: run });
  await service.start();
  await jest.advanceTimersByTimeAsync(100);
  let isStopped = false;
  const stopped = service.stop(1_000).then(() => {
    isStopped = true;
  });
  await jest.advanceTimersByTimeAsync(500);
  expect({ runs: ends.length, isStopped }).toEqual({ runs: 1, isStopped: false });
  end();
  await jest.advanceTimersByTimeAsync(0);
  expect({ runs: ends.length, isStopped }).toEqual({ runs: 2, isStopped: false });
  end();
  await stopped;
});

it('stopping repeated work takes no longer than the limit', async () => {
  const { run } = work();
  const service = every({ name: 'hangs', ms: 100, run });
  await service.start();
  await jest.advanceTimersByTimeAsync(100);
  const stopped = service.stop(300);
  await jest.advanceTimersByTimeAsync(300);
  await stopped;
});
