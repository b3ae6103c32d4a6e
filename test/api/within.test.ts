import { expect, it } from '@jest/globals';
import { within } from '@yardmaster/backend';

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
const never = new Promise<never>(() => undefined);

it('rejects with UNAVAILABLE when the time is over', async () => {
  await expect(within(5, never)).rejects.toMatchObject({ code: 'UNAVAILABLE', status: 503 });
});

it('rejects what has no time left, and hears what is there already', async () => {
  await expect(within(-1, never)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(await within(-1, Promise.resolve('there'))).toBe('there');
});

it('passes on a result and an error as they are', async () => {
  const [result, error] = [{ a: 1 }, new Error('of the call')];
  expect(await within(60_000, Promise.resolve(result))).toBe(result);
  await expect(within(60_000, Promise.reject(error))).rejects.toBe(error);
});

it('takes no notice of what comes too late, be it an error', async () => {
  let fail: (error: Error) => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const unhandled: unknown[] = [];
  const hear = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', hear);
  await expect(within(1, late)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  fail(new Error('late'));
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', hear);
  expect(unhandled).toEqual([]);
});

it('leaves no timer, however it ends, so that the process can', async () => {
  const before = timers();
  const calls = [within(60_000, Promise.resolve()), within(60_000, Promise.reject(new Error('x'))), within(1, never)];
  expect(timers()).toBe(before + 3);
  await Promise.allSettled(calls);
  expect(timers()).toBe(before);
});
