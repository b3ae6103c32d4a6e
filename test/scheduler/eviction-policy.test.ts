import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { connectTo } from '../support/connect.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { type RunningProcess, runApp } from '../support/process.js';
import { until } from '../support/until.js';

let redis: OwnRedis;
let scheduler: RunningProcess;
beforeAll(async () => {
  redis = await startRedis({ 'maxmemory-policy': 'allkeys-lru' });
});
afterAll(async () => {
  await scheduler?.stop();
  await redis.stop();
});

/** Whether a worker of BullMQ's waits: its connections are all made by then. */
const blocking = async (connection: Redis) => /cmd=bzpopmin/.test(String(await connection.client('LIST')));

it('warns once of a Redis that may evict jobs, in a line of JSON like all others', async () => {
  const connection = connectTo(redis.url);
  scheduler = runApp('scheduler', { PORT: '0', REDIS_URL: redis.url });
  await until(async () => /listening/.test(scheduler.output()) && (await blocking(connection)));
  expect(await scheduler.stop()).toBe(0);
  connection.disconnect();
  const lines = scheduler.output().trim().split('\n');
  expect(lines.filter((line) => line.includes('allkeys-lru')).map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ level: 'warn' }),
  ]);
});
