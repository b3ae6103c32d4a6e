import { expect, it } from '@jest/globals';
import { prepareRedis, raiseFormat, readFormat } from '@yardmaster/store';
import { storeUnderTest, withConnection } from './store-under-test.js';

const redis = withConnection();

it('raises the stored format only on request, to the highest that the release supports', async () => {
  const { store } = storeUnderTest(redis);
  await prepareRedis(store);
  expect(await readFormat(store, 2)).toBe(1);
  expect(await raiseFormat(store, 2)).toBe(1);
  expect(await readFormat(store, 2)).toBe(2);
  expect(await raiseFormat(store, 2)).toBe(2);
});

it('leaves the stored format unchanged when a service starts', async () => {
  const { store } = storeUnderTest(redis);
  for (let n = 0; n < 2; n++) await prepareRedis(store);
  expect(await redis.hget(store.keys.meta, 'format')).toBeNull();
});

it.each(['3', 'two'])('refuses the stored format %s when 2 is the highest supported format', async (format) => {
  const { store } = storeUnderTest(redis);
  await redis.hset(store.keys.meta, 'format', format);
  await expect(readFormat(store, 2)).rejects.toThrow(`in format ${format}, made by a newer release`);
  await expect(raiseFormat(store, 2)).rejects.toThrow('made by a newer release');
  expect(await redis.hget(store.keys.meta, 'format')).toBe(format);
});
