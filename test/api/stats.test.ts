import { expect, it } from '@jest/globals';
import { ANY_SPACE, completeJob, createStore, expireDue, partitionOf, redisNow } from '@yardmaster/store';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

const service = withService();

const NO_JOBS = { pending: 0, delivered: 0, running: 0, completed: 0, dead: 0, killed: 0, total: 0 };

async function statsOf(spaceId: string, query = '') {
  const { status, body } = await service.call('GET', `/spaces/${spaceId}/stats${query}`);
  expect(status).toBe(200);
  return body;
}
const namesOf = async (spaceId: string, query = '') =>
  (await statsOf(spaceId, query)).names.map(({ name }: { name: string }) => name);

it('returns zeros as the statistics of a space without jobs', async () => {
  expect(await statsOf('unused')).toEqual({
    spaceId: 'unused',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    jobs: NO_JOBS,
    oldestPendingAgeSeconds: null,
    names: [],
    namesLeftOut: 0,
  });
});

it('counts jobs by status and by name, with the most common names first', async () => {
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

it('shows the age of the oldest pending job, in total and by name', async () => {
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

it('counts each of many names once, in several steps', async () => {
  const jobs = Array.from({ length: 250 }, (_, n) => ({ name: `n${n}` }));
  await service.call('POST', '/spaces/stats-steps/jobs', { body: [...jobs, ...jobs.slice(0, 30)] });
  const { names, namesLeftOut } = await statsOf('stats-steps', '?limit=240');
  expect(names).toHaveLength(240);
  expect(new Set(names.map(({ name }: { name: string }) => name)).size).toBe(240);
  expect(names.slice(0, 31).map(({ total }: { total: number }) => total)).toEqual([...Array(30).fill(2), 1]);
  expect(names.every(({ pending, total }: Record<string, number>) => pending === total)).toBe(true);
  expect(namesLeftOut).toBe(10);
});

it('shows the statistics of 100 names by default, and how many names are omitted', async () => {
  for (let n = 0; n < 105; n++) await createJob(service, 'stats-many', { name: `n${n}` });
  for (let n = 50; n < 55; n++) await createJob(service, 'stats-many', { name: `n${n}` });
  expect(await statsOf('stats-many')).toMatchObject({ jobs: { total: 110 }, namesLeftOut: 5 });
  expect(await namesOf('stats-many')).toHaveLength(100);
  expect((await namesOf('stats-many', '?limit=5')).sort()).toEqual(['n50', 'n51', 'n52', 'n53', 'n54']);
  expect(await statsOf('stats-many', '?limit=5')).toMatchObject({ namesLeftOut: 100 });
  expect(await statsOf('stats-many', '?limit=5000')).toMatchObject({ namesLeftOut: 0 });
});

it('shows the statistics of the requested names once and in their order, with or without jobs', async () => {
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

it('removes a name from the statistics when its last job is purged', async () => {
  const store = createStore(service.redis, { keyPrefix: service.prefix, retentionMs: 1 });
  for (let n = 0; n < 2; n++) await createJob(service, 'purged');
  for (const names of [[{ name: 'work', total: 1 }], []]) {
    const [job] = (await service.call('POST', '/spaces/purged/jobs/poll')).body.jobs;
    await service.call('POST', `/jobs/${job.id}/ack`);
    await completeJob(store, ANY_SPACE, job.id, null);
    await until(async () => {
      await expireDue(store, partitionOf('purged'), await redisNow(store));
      return (await statsOf('purged')).jobs.completed === 0;
    });
    expect(await statsOf('purged')).toMatchObject({ jobs: { total: names.length }, names });
  }
  expect(await service.redis.exists(store.keys.names('purged'))).toBe(0);
});

const historyOf = (query: string) => service.call('GET', `/spaces/any/stats/history?${query}`);

it.each([
  ['step=61', 'step must be 60 or 3600'],
  ['from=yesterday', 'from must be an ISO 8601 timestamp with a time zone'],
  ['from=2026-08-01T10:00:00Z&to=2026-08-01T10:00:00Z', 'from must be before to'],
  ['from=2026-08-02T00:00:00Z&to=2026-08-01T00:00:00Z', 'from must be before to'],
  ['from=2026-08-01T10:00:30Z&to=2026-08-01T10:00:30Z', 'from must be before to'],
  ['from=2026-08-01T10:00:31Z&to=2026-08-01T10:00:30Z', 'from must be before to'],
  ['from=2026-08-01T10:40:00Z&to=2026-08-01T10:20:00Z&step=3600', 'from must be before to'],
  ['from=2100-01-01T00:00:00Z', 'from must be before to'],
  ['from=2026-08-01T00:00:00Z&to=2026-08-01T06:00:01Z', 'from must be at most 360 steps of 60 seconds before to'],
  ['from=2026-01-01T00:00:00Z&step=3600', 'from must be at most 360 steps of 3600 seconds before to'],
  ['form=2026-08-01T00:00:00Z', 'unknown query parameter form, did you mean from?'],
])('refuses the history of a space with %s', async (query, error) => {
  expect(await historyOf(query)).toMatchObject({ status: 400, body: { error, code: 'INVALID_REQUEST' } });
});

it.each([
  ...['', 'step=3600', 'from=2026-08-01T00:00:00Z&to=2026-08-01T06:00:00Z'],
  'from=2026-08-01T10:00:30.000Z&to=2026-08-01T10:00:30.001Z',
])('returns an empty history for a space without changes: %s', async (query) => {
  const step = query === 'step=3600' ? 3600 : 60;
  expect(await historyOf(query)).toMatchObject({ status: 200, body: { spaceId: 'any', step, points: [] } });
});
