import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { answer } from '../support/behaviours.js';
import { createJob, jobIn } from '../support/jobs.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

let redis: OwnRedis;
let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  redis = await startRedis();
  service = await startService(
    { DELIVERY_TIMEOUT_SECONDS: '1', CALLBACK_RETRY_DELAYS: '0.2,3600' },
    { redisUrl: redis.url },
  );
  receiver = await startReceiver();
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
  await redis.stop();
});

const typesOf = async (id: string) =>
  ((await service.call('GET', `/jobs/${id}`)).body.events as { type: string }[]).map(({ type }) => type);

it('meets every deadline and sends every callback while Redis has no memory left', async () => {
  const callbackUrl = receiver.script('/', answer(503), answer(200));
  const [silent, doomed, waiting] = [
    await jobIn(service, 'running', 'full', { timeoutSeconds: 1 }),
    await jobIn(service, 'running', 'full', { timeoutSeconds: 1, maxRetries: 0, callbackUrl }),
    (await createJob(service, 'full', { name: 'other' })).id,
  ];
  await service.call('POST', `/jobs/${waiting}/claim`);
  // Its retention is over while its callback is owed: it is looked at first, and cannot be purged.
  const owing = await jobIn(service, 'completed', 'full', { callbackUrl: receiver.script('/owing', answer(503)) });
  await until(async () => (await typesOf(owing)).includes('callback_sent'));
  await service.redis.zadd(service.store.keys.callbacks(owing.slice(0, 2)), 'XX', '+inf', owing);
  await service.redis.zadd(service.store.keys.deadlines(owing.slice(0, 2)), 'XX', 1, owing);
  await service.redis.config('SET', 'maxmemory', '1mb');

  await until(async () => (await typesOf(silent)).includes('retried'));
  await until(async () => (await typesOf(waiting)).includes('delivery_timeout'));
  await until(async () => receiver.requestsTo('/').length === 2);
  await until(async () => (await typesOf(doomed)).length === 6);
  expect(await typesOf(doomed)).toEqual(['created', 'delivered', 'acked', 'dead', 'callback_sent', 'callback_sent']);
  await service.redis.config('SET', 'maxmemory', '0');
  expect((await service.call('GET', `/jobs/${owing}`)).status).toBe(200);
});
