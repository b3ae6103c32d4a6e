import { beforeAll, expect, it } from '@jest/globals';
import { jobIn } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

// Operations on many jobs while Redis is full. Those that free its memory must start and end.

const service = withService({}, { redis: withRedis() });
const SPACE = 'op-full';

const start = (body: object, headers = {}) => service.call('POST', `/spaces/${SPACE}/operations`, { body, headers });
const countsOf = async () => (await service.call('GET', `/spaces/${SPACE}/stats`)).body.jobs;

async function runKeyed(body: object) {
  const { status, body: operation } = await start(body, { 'idempotency-key': JSON.stringify(body) });
  expect(status).toBe(202);
  const read = async () => (await service.call('GET', `/operations/${operation.id}`)).body;
  await until(async () => (await read()).status !== 'running');
  return read();
}

beforeAll(async () => {
  const body = Array.from({ length: 150 }, () => ({ name: 'work' }));
  await service.call('POST', `/spaces/${SPACE}/jobs`, { body });
  for (const status of ['dead', 'completed'] as const) await jobIn(service, status, SPACE);
  await service.redis.config('SET', 'maxmemory', '1');
});

it.each([
  { action: 'requeue', filter: { status: 'dead' } },
  { action: 'reschedule', filter: { status: 'pending' }, delaySeconds: 60 },
])('refuses the operation %j on a full Redis, because it needs memory', async (body) => {
  expect(await start(body)).toMatchObject({ status: 503, body: { code: 'STORAGE_FULL' } });
});

it('kills and then deletes all jobs of a space on a full Redis', async () => {
  const kill = { action: 'kill', filter: { status: 'pending' } };
  expect(await runKeyed(kill)).toMatchObject({ status: 'done', changed: 150, skipped: 0 });
  const remove = { action: 'delete', filter: { status: ['completed', 'dead', 'killed'] } };
  expect(await runKeyed(remove)).toMatchObject({ status: 'done', changed: 152, skipped: 0 });
  expect(await countsOf()).toMatchObject({ total: 0 });
});
