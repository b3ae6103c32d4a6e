import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { ANY_SPACE, completeJob, createStore, expireDue, partitionOf } from '@yardmaster/store';
import { createJob, jobIn } from '../support/jobs.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

let redis: OwnRedis;
let service: TestService;
beforeAll(async () => {
  redis = await startRedis();
  // Without a scheduler, whose commands would be counted too.
  service = await startService({ DELIVERY_TIMEOUT_SECONDS: '600' }, { redisUrl: redis.url, app: createApi });
});
afterAll(async () => {
  try {
    await service.stop();
  } finally {
    await redis.stop();
  }
});

const NO_JOBS = { pending: 0, delivered: 0, running: 0, completed: 0, dead: 0, killed: 0, total: 0 };

async function statsOf(spaceId: string, query = '') {
  const { status, body } = await service.call('GET', `/spaces/${spaceId}/stats${query}`);
  expect(status).toBe(200);
  return body;
}
const namesOf = async (spaceId: string, query = '') =>
  (await statsOf(spaceId, query)).names.map(({ name }: { name: string }) => name);

it('an unknown space is all zeros', async () => {
  expect(await statsOf('nobody')).toEqual({
    spaceId: 'nobody',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    jobs: NO_JOBS,
    oldestPendingAgeSeconds: null,
    names: [],
    namesLeftOut: 0,
  });
});

it('counts jobs by status and by name, those with most jobs first', async () => {
  const statuses = ['pending', 'delivered', 'running', 'completed', 'dead', 'killed'] as const;
  for (const status of statuses) await jobIn(service, status, 'counted', { name: 'all "kinds"\n' });
  await jobIn(service, 'pending', 'counted', { name: 'all "kinds"\n' });
  await jobIn(service, 'running', 'counted', { name: 'busy, ü' });
  const age = expect.any(Number);
  expect(await statsOf('counted')).toEqual({
    spaceId: 'counted',
    timestamp: expect.any(String),
    jobs: { pending: 2, delivered: 1, running: 2, completed: 1, dead: 1, killed: 1, total: 8 },
    oldestPendingAgeSeconds: age,
    names: [
      { name: 'all "kinds"\n', total: 7, pending: 2, oldestPendingAgeSeconds: age },
      { name: 'busy, ü', total: 1, pending: 0, oldestPendingAgeSeconds: null },
    ],
    namesLeftOut: 0,
  });
});

it('tells the age of the oldest pending job, of all and of each name, as of its timestamp', async () => {
  const old = await createJob(service, 'aged', { name: 'old' });
  await until(async () => Date.parse((await statsOf('aged')).timestamp) > Date.parse(old.createdAt) + 50);
  const young = await createJob(service, 'aged', { name: 'young' });
  await createJob(service, 'aged', { name: 'old' });
  const { timestamp, oldestPendingAgeSeconds, names } = await statsOf('aged');
  const age = (job: { createdAt: string }) => (Date.parse(timestamp) - Date.parse(job.createdAt)) / 1000;
  expect(oldestPendingAgeSeconds).toBe(age(old));
  expect(names).toEqual([
    { name: 'old', total: 2, pending: 2, oldestPendingAgeSeconds: age(old) },
    { name: 'young', total: 1, pending: 1, oldestPendingAgeSeconds: age(young) },
  ]);
});

it('shows 100 names unless told, and says how many it leaves out', async () => {
  for (let n = 0; n < 105; n++) await createJob(service, 'many', { name: `n${n}` });
  for (let n = 50; n < 55; n++) await createJob(service, 'many', { name: `n${n}` });
  expect(await statsOf('many')).toMatchObject({ jobs: { total: 110 }, namesLeftOut: 5 });
  expect(await namesOf('many')).toHaveLength(100);
  expect((await namesOf('many', '?limit=5')).sort()).toEqual(['n50', 'n51', 'n52', 'n53', 'n54']);
  expect(await statsOf('many', '?limit=5')).toMatchObject({ namesLeftOut: 100 });
  expect(await statsOf('many', '?limit=5000')).toMatchObject({ namesLeftOut: 0 });
});

it('shows the names asked for, in that order and each once, also those no job has', async () => {
  await createJob(service, 'asked', { name: 'a,b' });
  await createJob(service, 'asked', { name: 'c' });
  expect(await namesOf('asked', '?name=none&name=a%2Cb&name=none')).toEqual(['none', 'a,b']);
  expect(await statsOf('asked', '?name=none&name=a%2Cb')).toMatchObject({
    names: [
      { name: 'none', total: 0, pending: 0, oldestPendingAgeSeconds: null },
      { name: 'a,b', total: 1, pending: 1, oldestPendingAgeSeconds: expect.any(Number) },
    ],
    namesLeftOut: 1,
  });
});

it.each([
  ['limit=0', 'limit must be an integer of at least 1'],
  ['limit=x', 'limit must be an integer of at least 1'],
  ['limit=1&limit=2', 'limit must be given once'],
  ['name=', 'name must be 1 to 128 characters'],
  [`name=a&name=${'x'.repeat(129)}`, 'name[1] must be 1 to 128 characters'],
  ['name=x&'.repeat(101), 'name must have at most 100 names'],
])('refuses %.20s', async (query, error) => {
  const { status, body } = await service.call('GET', `/spaces/counted/stats?${query}`);
  expect({ status, body }).toEqual({ status: 400, body: { error, code: 'INVALID_REQUEST' } });
});

it('forgets a name with its last job, and counts a job whose creation was refused nowhere', async () => {
  const store = createStore(service.redis, { keyPrefix: service.prefix, retentionMs: 1 });
  const [first] = [await jobIn(service, 'running', 'purged'), await createJob(service, 'purged')];
  await completeJob(store, ANY_SPACE, first, null);
  await until(async () => {
    await expireDue(store, partitionOf('purged'));
    return (await statsOf('purged')).jobs.completed === 0;
  });
  expect(await statsOf('purged')).toMatchObject({ jobs: { total: 1 }, names: [{ name: 'work', total: 1 }] });

  const [second] = (await service.call('POST', '/spaces/purged/jobs/poll')).body.jobs;
  await service.call('POST', `/jobs/${second.id}/ack`);
  await completeJob(store, ANY_SPACE, second.id, null);
  await until(async () => {
    await expireDue(store, partitionOf('purged'));
    return (await statsOf('purged')).names.length === 0;
  });
  expect(await service.redis.exists(store.keys.names('purged'))).toBe(0);

  await service.redis.config('SET', 'maxmemory', '1mb');
  const { status } = await service.call('POST', '/spaces/purged/jobs', { body: { name: 'refused' } });
  await service.redis.config('SET', 'maxmemory', '0');
  expect(status).toBe(503);
  expect(await statsOf('purged')).toMatchObject({ jobs: NO_JOBS, names: [] });
});

it('takes Redis as many commands for 5 000 jobs as for 5', async () => {
  const commandsOf = async (spaceId: string) => {
    await service.redis.config('RESETSTAT');
    await statsOf(spaceId);
    const calls = (await service.redis.info('commandstats')).matchAll(/cmdstat_(z\w+):calls=(\d+)/g);
    return Object.fromEntries([...calls].map(([, command, count]) => [command, Number(count)]));
  };
  const create = (count: number, spaceId: string) =>
    Promise.all(Array.from({ length: count }, (_, n) => createJob(service, spaceId, { name: `n${n % 2}` })));
  await create(5, 'few');
  await create(5_000, 'lots');
  const few = await commandsOf('few');
  expect(few).toEqual({ zcard: 11, zrange: 3, zrevrange: 1 });
  expect(await commandsOf('lots')).toEqual(few);
});
