import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createJob, jobIn } from '../../support/jobs.js';
import { withService } from '../../support/service.js';
import { until } from '../../support/until.js';
import type { Dashboard } from './dashboard.js';
import { withDashboards } from './with-dashboards.js';

const service = withService();
const open = withDashboards(service);

/** Create a job in each given status, and return a function that reads their current statuses. */
async function jobsIn(spaceId: string, ...wanted: [Parameters<typeof jobIn>[1], object?][]) {
  const ids: string[] = [];
  for (const [status, fields] of wanted) ids.push(await jobIn(service, status, spaceId, { ...fields }));
  const statuses = async () => {
    const read = (id: string) => service.call('GET', `/jobs/${id}`);
    return (await Promise.all(ids.map(read))).map(({ status, body }) => (status === 404 ? 'gone' : body.status));
  };
  return { ids, statuses };
}

/** Wait until the newest operation ends, and return its row. */
async function endOfOperation(dashboard: Dashboard): Promise<string> {
  const row = async () => (await dashboard.texts('main tbody tr'))[0] ?? '';
  await until(async () => / done /.test(await row()));
  return row();
}

it.each([
  ['Requeue', 'dead', ['pending', 'pending', 'dead']],
  ['Kill', 'running', ['killed', 'killed', 'running']],
  ['Delete', 'completed', ['gone', 'gone', 'completed']],
] as const)('%s changes only the selected jobs', async (verb, status, after) => {
  const space = `many-selected-${verb.toLowerCase()}`;
  const { ids, statuses } = await jobsIn(space, [status], [status], [status]);
  const dashboard = await open(`#/spaces/${space}`);
  await dashboard.click(`Select ${ids[0]}`);
  await dashboard.click(`Select ${ids[1]}`);
  await dashboard.click(`${verb} 2 selected…`);
  await dashboard.waitFor(`${verb} 2 jobs`);
  await dashboard.click(`${verb} 2`);
  expect(await endOfOperation(dashboard)).toMatch(/2 selected done 2 0/);
  expect(await statuses()).toEqual(after);
});

it('selects all jobs on the page, offers each action for the jobs that it can change, and clears the selection', async () => {
  await jobsIn('many-all', ['dead'], ['pending'], ['running']);
  const dashboard = await open('#/spaces/many-all');
  await dashboard.click('Select all jobs on this page');
  for (const name of ['Requeue 1 selected…', 'Kill 2 selected…', 'Delete 1 selected…']) await dashboard.find(name);
  await dashboard.click('Select all jobs on this page');
  await dashboard.find('Delete all matching jobs…');
});

it('counts and requeues exactly the jobs that match a filter', async () => {
  const { statuses } = await jobsIn(
    'many-filter',
    ['dead', { name: 'invoice', tags: ['eu'], payload: { card: 'visa' } }],
    ['dead', { name: 'invoice', tags: ['eu'], payload: { card: 'visa' } }],
    ['dead', { name: 'invoice', tags: ['eu'], payload: { card: 'other' } }],
    ['dead', { name: 'invoice', payload: { card: 'visa' } }],
    ['dead', { name: 'refund', tags: ['eu'], payload: { card: 'visa' } }],
    ['killed', { name: 'invoice', tags: ['eu'], payload: { card: 'visa' } }],
  );
  const dashboard = await open('#/spaces/many-filter?tag=eu');
  await dashboard.click(/^dead/, 'link');
  await dashboard.choose('name', 'invoice');
  await dashboard.fill('find', 'visa');
  await dashboard.waitForTexts('tbody td:nth-child(3)', ['invoice', 'invoice']);
  await dashboard.click('Requeue all matching jobs…');
  await dashboard.waitFor('Requeue 2 jobs');
  await dashboard.waitFor('Jobs with status dead, name invoice, tag eu, whose payload, result or error contains visa');
  await dashboard.click('Requeue 2');
  expect(await endOfOperation(dashboard)).toMatch(/^requeue .* done 2 0/);
  expect(await statuses()).toEqual(['pending', 'pending', 'dead', 'dead', 'dead', 'killed']);
});

it('requeues all jobs that failed with the same error from the overview', async () => {
  const space = 'many-error';
  const { statuses } = await jobsIn(space, ['running', { maxRetries: 0 }], ['running', { maxRetries: 0 }], ['dead']);
  const { body } = await service.call('GET', `/spaces/${space}/jobs?status=running`);
  for (const { id } of body)
    await service.call('POST', `/jobs/${id}/fail`, { body: { error: 'card "x" \\ declined' } });
  const dashboard = await open(`#/spaces/${space}?status=dead`);
  await dashboard.click(/^card "x" .* ×2$/);
  await dashboard.waitForTexts('tbody td:nth-child(4)', ['dead', 'dead']);
  await dashboard.go('#/');
  await dashboard.click(/^2 jobs failed with card/);
  await dashboard.waitForTexts('tbody td:nth-child(4)', ['dead', 'dead']);
  await dashboard.click('Requeue all matching jobs…');
  await dashboard.click('Requeue 2');
  await endOfOperation(dashboard);
  expect(await statuses()).toEqual(['pending', 'pending', 'dead']);
});

it('requeues a group of the overview without a job that only mentions its error', async () => {
  // Enough for the group to be among those that the page shows.
  const mentioning = { maxRetries: 0, payload: { note: 'cage locked' } };
  const others = Array(8).fill(['running', { maxRetries: 0 }]);
  const { ids, statuses } = await jobsIn('many-mention', ['running', mentioning], ...others);
  for (const [i, id] of ids.entries())
    await service.call('POST', `/jobs/${id}/fail`, { body: { error: i === 0 ? 'lion asleep' : 'cage locked' } });
  const dashboard = await open('#/');
  await dashboard.click('Requeue all… many-mention: cage locked');
  await dashboard.click('Requeue 8');
  await endOfOperation(dashboard);
  expect(await statuses()).toEqual(['dead', ...Array(8).fill('pending')]);
});

it('finds dead jobs by the start of a long error', async () => {
  const error = `long ${'x'.repeat(401)}${'😀'.repeat(200)}`;
  for (let n = 0; n < 9; n++) {
    const id = await jobIn(service, 'running', 'many-long', { maxRetries: 0 });
    await service.call('POST', `/jobs/${id}/fail`, { body: { error } });
  }
  const dashboard = await open('#/');
  await dashboard.click(/^9 jobs failed with long x/);
  await dashboard.waitForTexts('tbody td:nth-child(4)', Array(9).fill('dead'));
});

it('disables an operation that would change no jobs', async () => {
  await jobsIn('many-none', ['completed']);
  const dashboard = await open('#/spaces/many-none');
  await dashboard.click('Requeue all matching jobs…');
  await dashboard.waitFor('Requeue 0 jobs');
  await dashboard.find('Cancel');
  await expect(dashboard.page.evaluate(`document.querySelector('dialog [type=submit]').disabled`)).resolves.toBe(true);
});

describe('with an API without a scheduler, so that a long operation does not finish', () => {
  const api = withService({}, { app: 'api' });
  const openThere = withDashboards(api);

  it('cancels a running operation from the dashboard', async () => {
    const space = 'many-cancel';
    const body = Array(1_000).fill({ name: 'work' });
    for (let i = 0; i < 5; i++) await api.call('POST', `/spaces/${space}/jobs`, { body });
    const filter = { status: ['pending'] };
    const started = await api.call('POST', `/spaces/${space}/operations`, { body: { action: 'kill', filter } });
    const dashboard = await openThere(`#/spaces/${space}/operations`);
    await dashboard.waitFor(/[\d,]+ of 5,000/);
    await dashboard.click('Cancel…');
    await dashboard.click('Cancel operation');
    await dashboard.waitFor('pending cancelled');
    expect((await api.call('GET', `/operations/${started.body.id}`)).body.status).toBe('cancelled');
  });
});

it('exports all jobs that match a filter, one JSON object per line', async () => {
  const { ids } = await jobsIn('many-export', ['dead', { payload: { a: '\n"ü' } }], ['dead'], ['pending']);
  await createJob(service, 'many-export');
  const dashboard = await open('#/spaces/many-export?status=dead');
  await dashboard.click('Export all matching jobs');
  await dashboard.waitFor('Exported 2 jobs');
  const file = join(dashboard.downloads, 'many-export.jsonl');
  await until(async () => (await readdir(join(file, '..'))).includes('many-export.jsonl'));
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line)).map(({ id }) => id)).toEqual([ids[1], ids[0]]);
});
