import { afterEach, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { digHole, type Hole } from '../support/redis/hole.js';
import { type RedisNode, startNode } from '../support/redis/node.js';
import { startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';

let redis: RedisNode;
let hole: Hole;
let service: TestService;

afterEach(async () => {
  await service?.stop();
  await hole?.stop();
  await redis?.stop();
});

it('connections that are accepted and never answered are given up, each of them', async () => {
  redis = await startNode({ lines: (port) => [`port ${port}`] });
  hole = await digHole(redis.port);
  // The test's own connection falls, too, and is looked after by nobody: it checks nothing in the end.
  service = await startService({}, { redisUrl: `redis://127.0.0.1:${hole.port}`, check: false });
  const { key } = await service.key(['jobs:read']);
  const { id } = await createJob(service, 'a');

  hole.open();
  // Commands, long commands, subscriptions, BullMQ's commands and its two workers; and the test's own.
  await until(() => hole.depth >= 7);
  hole.shut();
  await until(async () => (await service.http.call('GET', '/readyz')).status === 200);
  const stream = await StreamClient.open(service.url, `/${id}?token=${key}`);
  await service.call('POST', `/jobs/${id}/claim`);
  await stream.next('delivered');
  await stream.close();
  // Nobody is told by /readyz of those that BullMQ waits on. The last is the test's.
  await until(() => hole.depth <= 1);
  expect(hole.depth).toBe(1);
}, 60_000);
