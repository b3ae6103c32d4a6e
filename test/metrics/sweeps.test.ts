import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createScheduler } from '@yardmaster/scheduler';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { byLabel, scrape } from './scrape.js';

let redis: OwnRedis;
let scheduler: TestService;
beforeAll(async () => {
  redis = await startRedis();
  scheduler = await startService({}, { redisUrl: redis.url, app: createScheduler });
});
afterAll(async () => {
  try {
    await scheduler.stop();
  } finally {
    await redis.stop();
  }
});

const value = async (name: string) => (await scrape(scheduler)).get(name) as number;

it('counts sweeps, shows the age of the last, and counts those that fail while Redis is away', async () => {
  const before = await value('yardmaster_sweeps_total');
  await until(async () => (await value('yardmaster_sweeps_total')) > before + 1);
  await until(async () => (await value('yardmaster_sweep_age_seconds')) < 3);
  expect(await value('yardmaster_sweep_failures_total')).toBe(0);

  await redis.halt();
  await until(async () => (await value('yardmaster_sweep_failures_total')) > 1);
  await until(async () => (await value('yardmaster_sweep_age_seconds')) > 3);
  expect(byLabel(await scrape(scheduler), 'yardmaster_redis_errors_total')).toMatchObject({
    connection: expect.any(Number),
    other: 0,
  });
  expect((await scrape(scheduler)).get('yardmaster_redis_errors_total{class="connection"}')).toBeGreaterThan(1);

  await redis.resume();
  await until(async () => (await value('yardmaster_sweep_age_seconds')) < 3);
});
