import { expect, it } from '@jest/globals';
import { sharedRead } from '@yardmaster/backend';

it('makes one reading for all who ask while it goes on, and for those who ask soon after', async () => {
  let readings = 0;
  let finish: (value: number) => void = () => undefined;
  const read = sharedRead(() => {
    readings++;
    return new Promise<number>((resolve) => {
      finish = resolve;
    });
  });
  const asked = [read(), read(), read()];
  finish(7);
  expect(await Promise.all(asked)).toEqual([7, 7, 7]);
  expect(await read()).toBe(7);
  expect(readings).toBe(1);
});

it('gives nothing when the reading takes too long, and does not begin another one beside it', async () => {
  let readings = 0;
  const read = sharedRead(() => {
    readings++;
    return new Promise<number>(() => undefined);
  });
  expect(await Promise.all([read(), read()])).toEqual([null, null]);
  expect(await read()).toBeNull();
  expect(readings).toBe(1);
});

it('gives nothing when the reading fails, and reads again when it is asked again', async () => {
  const outcomes = [Promise.reject(new Error('away')), Promise.resolve(7)];
  const read = sharedRead(() => outcomes.shift() as Promise<number>);
  expect(await read()).toBeNull();
  expect(await read()).toBe(7);
});
