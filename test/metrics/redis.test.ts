import { expect, it } from '@jest/globals';
import { jobIn } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { movedBy, scrape } from './scrape.js';

const redis = withRedis();
// Without a scheduler, because its calls would also be counted.
const service = withService({}, { redis, hasDefaultTimeouts: true, app: 'api' });

const CALLS = 'yardmaster_redis_request_duration_seconds';
const ERRORS = 'yardmaster_redis_errors_total';
const calls = (call: string, by = 1) => ({ [`${CALLS}_count{call="${call}"}`]: by });
const errors = (name: string, by = 1) => ({ [`${ERRORS}{class="${name}"}`]: by });

it('observes each call to Redis once, by script or command', async () => {
  const id = await jobIn(service, 'delivered', 'calls');
  const moved = await movedBy(service, [CALLS, ERRORS], async () => {
    await service.call('POST', `/jobs/${id}/ack`);
    await service.call('POST', `/jobs/${id}/ack`); // Refused, which is not an error.
    await service.call('GET', `/jobs/${id}/progress`);
  });
  expect(moved).toEqual({ ...calls('ack', 2), ...calls('hmget') });
});

it('counts calls that Redis refuses for lack of memory, even those that keep a job alive', async () => {
  const id = await jobIn(service, 'running', 'full');
  await service.redis.config('SET', 'maxmemory', '1mb');
  const moved = await movedBy(service, [ERRORS, 'yardmaster_logs_refused_total'], async () => {
    await service.call('POST', '/spaces/full/jobs', { body: { name: 'work' } });
    await service.call('POST', `/jobs/${id}/checkpoint`, { body: 1 });
    await service.call('POST', `/jobs/${id}/logs`, { body: ['a'] });
  });
  await service.redis.config('SET', 'maxmemory', '0');
  expect(moved).toEqual({ ...errors('full', 3), yardmaster_logs_refused_total: 1 });
});

it('counts calls that Redis did not reply to in time', async () => {
  const moved = await movedBy(service, ERRORS, async () => {
    process.kill(redis.pid(), 'SIGSTOP');
    try {
      expect((await service.call('POST', '/spaces/hangs/jobs/poll')).status).toBe(503);
    } finally {
      process.kill(redis.pid(), 'SIGCONT');
    }
  });
  expect(moved).toEqual(errors('timeout'));
});

it('counts calls that Redis cannot serve temporarily, and calls without a connection', async () => {
  const create = () => service.call('POST', '/spaces/busy/jobs', { body: { name: 'work' } });
  await service.redis.config('SET', 'min-replicas-to-write', '1');
  expect(await movedBy(service, ERRORS, create)).toEqual(errors('busy'));
  await service.redis.config('SET', 'min-replicas-to-write', '0');

  await redis.halt();
  const connected = async () => (await scrape(service)).get('yardmaster_redis_connected{use="commands"}');
  await until(async () => (await connected()) === 0);
  expect(await movedBy(service, ERRORS, create)).toEqual(errors('connection'));
  await redis.resume();
  await until(async () => (await connected()) === 1);
});
