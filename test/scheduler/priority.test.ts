import { expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { makeDue } from '../support/schedulers.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

// A head start in the queue: contract-2 §2.

const service = withService();

const read = async (id: string) => (await service.call('GET', `/jobs/${id}`)).body;
const call = (id: string, verb: string, body?: unknown) => service.call('POST', `/jobs/${id}/${verb}`, { body });
const create = async (spaceId: string, fields = {}) => (await createJob(service, spaceId, fields)).id;
const poll = async (spaceId: string, fields = {}): Promise<string[]> => {
  const { body } = await service.call('POST', `/spaces/${spaceId}/jobs/poll`, { body: { count: 50, ...fields } });
  return body.jobs.map(({ id }: { id: string }) => id);
};

it('a priority of n lets a job count as n seconds older, over all names', async () => {
  const ids: Record<string, string> = {};
  for (const [n, priority] of [0, -1, 600, 599, 0].entries()) {
    ids[n] = await create('prio-head-start', { priority, name: n % 2 === 0 ? 'even' : 'odd' });
  }
  expect(await read(ids[2] as string)).toMatchObject({ priority: 600 });
  expect(await read(ids[0] as string)).not.toHaveProperty('priority');
  expect(await poll('prio-head-start', { types: ['odd', 'even'] })).toEqual([2, 3, 0, 4, 1].map((n) => ids[n]));
});

it('a priority does not put a job before one that has waited longer than the head start', async () => {
  const old = await create('prio-ages');
  await until(async () => Date.now() - Date.parse((await read(old)).createdAt) > 1_200);
  const young = await create('prio-ages', { priority: 1 });
  const urgent = await create('prio-ages', { priority: 60 });
  expect(await poll('prio-ages')).toEqual([urgent, old, young]);
});

it.each<[event: string, happens: (id: string) => Promise<unknown>]>([
  ['a retry', async (id) => [await call(id, 'ack'), await call(id, 'fail', { error: 'no' })]],
  ['a release', (id) => call(id, 'release')],
  ['a delivery time-out', (id) => makeDue(service, id)],
  ['its new time', (id) => call(id, 'release', { delaySeconds: 0.1 })],
])('a job keeps its priority after %s', async (event, happens) => {
  const space = `prio-kept-after-${event.replaceAll(' ', '-')}`;
  const urgent = await jobIn(service, 'delivered', space, { priority: 600 });
  const other = await create(space);
  await happens(urgent);
  await until(async () => (await read(urgent)).status === 'pending');
  expect(await poll(space)).toEqual([urgent, other]);
});

it('a create that replaces a job changes its priority and keeps its place by creation', async () => {
  const unique = { key: 'one', onConflict: 'replace' };
  const first = await create('prio-replaced', { unique, priority: 600 });
  const second = await create('prio-replaced', { priority: 300 });
  const third = await create('prio-replaced');
  const { body } = await service.call('POST', '/spaces/prio-replaced/jobs', { body: { name: 'work', unique } });
  expect(body).toMatchObject({ id: first, status: 'pending' });
  expect(await poll('prio-replaced')).toEqual([second, first, third]);
});

it('the age of the oldest pending job does not include its priority', async () => {
  await create('prio-age', { priority: 604_800 });
  const { body } = await service.call('GET', '/spaces/prio-age/stats');
  expect(body.oldestPendingAgeSeconds).toBeLessThan(600_000);
  expect(body.names[0].oldestPendingAgeSeconds).toBeLessThan(600_000);
});
