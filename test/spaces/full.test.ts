import { expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { withService } from '../support/service.js';

const redis = withRedis();
const service = withService({}, { redis, app: 'api' });

it('changes settings of a space, pauses and resumes it while Redis is full', async () => {
  const { id } = await createJob(service, 'full');
  const call = async (verb: string, body: object, method = 'POST') =>
    (await service.call(method, `/spaces/full/${verb}`, { body })).status;
  const poll = async () => (await service.call('POST', '/spaces/full/jobs/poll')).body.jobs;
  await service.redis.config('SET', 'maxmemory', '1');
  const statuses = [
    await call('settings', { retention: { completedSeconds: 60 }, maxPending: 3 }, 'PATCH'),
    await call('settings', { maxPending: null }, 'PATCH'),
    await call('pause', { names: ['work', 'other'] }),
    (await poll()).length,
    await call('pause', {}),
    await call('resume', { names: ['work'] }),
    await call('resume', {}),
  ];
  const [job] = await poll();
  await service.redis.config('SET', 'maxmemory', '0');
  expect([statuses, job?.id]).toEqual([[200, 200, 200, 0, 200, 200, 200], id]);
});
