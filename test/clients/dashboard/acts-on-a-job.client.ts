import { expect, it } from '@jest/globals';
import { createJob, jobIn } from '../../support/jobs.js';
import { withService } from '../../support/service.js';
import { until } from '../../support/until.js';
import { withDashboards } from './with-dashboards.js';

const service = withService();
const open = withDashboards(service);

const jobOf = async (id: string) => (await service.call('GET', `/jobs/${id}`)).body;
const statusOf = async (id: string) => (await jobOf(id)).status;

it('creates a job with its optional fields from the dashboard', async () => {
  const dashboard = await open('#/spaces/act-create');
  await dashboard.click('New job…');
  await dashboard.fill('Name', 'resize');
  await dashboard.fill('Payload', '{"width": 3}');
  await dashboard.fill('More fields', '{"tags": ["eu"], "delaySeconds": 3600}');
  await dashboard.click('Create');
  await dashboard.waitFor('resize scheduled');
  const id = (await dashboard.hash()).replace('#/jobs/', '');
  expect(await jobOf(id)).toMatchObject({
    ...{ spaceId: 'act-create', name: 'resize', status: 'scheduled' },
    ...{ payload: { width: 3 }, tags: ['eu'] },
  });
});

it('keeps the dialog open and shows why a job was not created', async () => {
  const dashboard = await open('#/spaces/act-create');
  await dashboard.click('New job…');
  await dashboard.fill('Name', 'resize');
  await dashboard.fill('Payload', '{"width": ');
  await dashboard.click('Create');
  await dashboard.waitFor('Payload is not valid JSON');
  await dashboard.fill('Payload', '');
  await dashboard.fill('More fields', '{"maxRetries": -1}');
  await dashboard.click('Create');
  await dashboard.waitFor(/maxRetries/);
  await dashboard.fill('More fields', '{"delaySecond": 60}');
  await dashboard.click('Create');
  await dashboard.waitFor('unknown field delaySecond, did you mean delaySeconds?');
  await dashboard.fill('More fields', '[1]');
  await dashboard.click('Create');
  await dashboard.waitFor('More fields must be a JSON object');
  expect(await dashboard.names('dialog')).toEqual(['New job in act-create']);
});

it('shows that no job is created when another one holds the unique key', async () => {
  const { id } = await createJob(service, 'act-unique', { unique: { key: 'one' } });
  const dashboard = await open('#/spaces/act-unique');
  await dashboard.click('New job…');
  await dashboard.fill('Name', 'work');
  await dashboard.fill('More fields', '{"unique": {"key": "one"}}');
  await dashboard.click('Create');
  await dashboard.waitFor(`No job was created: ${id} already holds this unique key`);
});

it('kills a running job with a reason', async () => {
  const id = await jobIn(service, 'running', 'act-kill');
  const dashboard = await open(`#/jobs/${id}`);
  await dashboard.click('Kill…');
  await dashboard.fill('Reason', 'not needed');
  await dashboard.click('Kill 1 job');
  await dashboard.waitFor('work killed');
  const { events } = await jobOf(id);
  expect(events.at(-1)).toMatchObject({ type: 'killed', data: { reason: 'not needed' } });
});

it('changes nothing when a dialog is canceled or closed with Escape', async () => {
  const id = await jobIn(service, 'running', 'act-cancel');
  const dashboard = await open(`#/jobs/${id}`);
  await dashboard.click('Kill…');
  await dashboard.click('Cancel');
  await dashboard.click('Kill…');
  await dashboard.find('Kill 1 job');
  await dashboard.press('Escape');
  await dashboard.find('Kill…');
  expect(await statusOf(id)).toBe('running');
});

it('requeues a dead job from its row', async () => {
  const id = await jobIn(service, 'dead', 'act-requeue');
  const dashboard = await open('#/spaces/act-requeue');
  await dashboard.click(`Requeue… ${id}`);
  await dashboard.click('Requeue');
  await dashboard.waitForTexts('tbody td:nth-child(4)', ['pending']);
  expect(await jobOf(id)).toMatchObject({ status: 'pending', attemptNumber: 0 });
});

it('requeues a job with a delay', async () => {
  const id = await jobIn(service, 'killed', 'act-requeue');
  const dashboard = await open(`#/jobs/${id}`);
  await dashboard.click('Requeue…');
  await dashboard.fill('Delay in seconds', '3600');
  await dashboard.click('Requeue');
  await dashboard.waitFor('work scheduled');
  expect(await statusOf(id)).toBe('scheduled');
});

it('shows the conflict when a job has changed since its dialog opened', async () => {
  const id = await jobIn(service, 'dead', 'act-conflict');
  const dashboard = await open(`#/jobs/${id}`);
  await dashboard.click('Delete…');
  await dashboard.find('Delete 1 job');
  await service.call('POST', `/jobs/${id}/requeue`);
  await dashboard.click('Delete 1 job');
  await dashboard.waitFor(/\(JOB_\w+\)/);
  expect(await statusOf(id)).toBe('pending');
});

it('reschedules a scheduled job to now', async () => {
  const id = await jobIn(service, 'scheduled', 'act-reschedule');
  const dashboard = await open(`#/jobs/${id}`);
  await dashboard.click('Reschedule…');
  await dashboard.click('Reschedule');
  await dashboard.waitFor('work pending');
  expect(await statusOf(id)).toBe('pending');
});

it('copies a job with a different payload', async () => {
  const id = await jobIn(service, 'completed', 'act-copy', { payload: { page: 1 }, tags: ['eu'] });
  const dashboard = await open(`#/jobs/${id}`);
  await dashboard.click('Copy as new job…');
  await dashboard.fill('Payload', '{"page": 2}');
  await dashboard.click('Create copy');
  await dashboard.find(/^Copy of another job/);
  const copy = (await dashboard.hash()).replace('#/jobs/', '');
  expect(await jobOf(copy)).toMatchObject({ copyOf: id, payload: { page: 2 }, tags: ['eu'], status: 'pending' });
});

it('deletes an ended job and opens its space', async () => {
  const { id: other } = await createJob(service, 'act-delete');
  const id = await jobIn(service, 'completed', 'act-delete');
  const dashboard = await open(`#/jobs/${id}`);
  await dashboard.click('Delete…');
  await dashboard.click('Delete 1 job');
  await until(async () => (await dashboard.hash()) === '#/spaces/act-delete');
  await dashboard.find(`Select ${other}`);
  expect((await service.call('GET', `/jobs/${id}`)).status).toBe(404);
});
