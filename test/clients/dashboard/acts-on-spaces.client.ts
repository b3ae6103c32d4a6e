import { expect, it } from '@jest/globals';
import { createJob } from '../../support/jobs.js';
import { withService } from '../../support/service.js';
import { withDashboards } from './with-dashboards.js';

const service = withService();
const open = withDashboards(service);

const pausedIn = async (space: string) => (await service.call('GET', `/spaces/${space}/stats`)).body.paused;
const settingsOf = async (space: string) => (await service.call('GET', `/spaces/${space}/settings`)).body;

it('pauses and resumes a space from the overview', async () => {
  await createJob(service, 'spaces-pause');
  const dashboard = await open();
  await dashboard.scrollTo('spaces-pause');
  await dashboard.click('Pause spaces-pause');
  await dashboard.waitFor('Pending: 1 job.');
  await dashboard.click('Pause');
  await dashboard.find('Resume spaces-pause');
  expect(await pausedIn('spaces-pause')).toBe(true);
  await dashboard.click('Resume spaces-pause');
  await dashboard.click('Resume');
  await dashboard.find('Pause spaces-pause');
  expect(await pausedIn('spaces-pause')).toBeUndefined();
});

it('pauses and resumes a name of a space, and a name without jobs', async () => {
  await createJob(service, 'spaces-names', { name: 'resize' });
  await createJob(service, 'spaces-names', { name: 'invoice' });
  const dashboard = await open('#/spaces/spaces-names/settings');
  await dashboard.click('Pause… resize');
  await dashboard.click('Pause');
  await dashboard.waitFor('1 job name is paused.');
  expect(await pausedIn('spaces-names')).toEqual(['resize']);
  await dashboard.fill('Another job name', 'later');
  await dashboard.click('Pause name…');
  await dashboard.click('Pause');
  await dashboard.waitFor('2 job names are paused.');
  expect(await pausedIn('spaces-names')).toEqual(['later', 'resize']);
  await dashboard.click('Resume… resize');
  await dashboard.click('Resume');
  await dashboard.waitFor('1 job name is paused.');
  expect(await pausedIn('spaces-names')).toEqual(['later']);
  await dashboard.click('Resume space…');
  await dashboard.click('Resume');
  await dashboard.waitFor('Nothing is paused.');
  expect(await pausedIn('spaces-names')).toBeUndefined();
});

it('changes only the edited settings of a space, and restores the defaults of emptied ones', async () => {
  const space = 'spaces-settings';
  await service.call('PATCH', `/spaces/${space}/settings`, { body: { maxPending: 10, defaults: { maxRetries: 7 } } });
  const dashboard = await open(`#/spaces/${space}/settings`);
  await dashboard.fill('Keep dead jobs', '60');
  await dashboard.fill('retry', '{"delaySeconds": 5}');
  await dashboard.fill('Maximum pending jobs', '');
  await dashboard.choose(/^Job streams without a token/, 'no');
  await service.call('PATCH', `/spaces/${space}/settings`, { body: { defaults: { timeoutSeconds: 9 } } });
  await dashboard.click('Save 4 changes');
  await dashboard.waitFor('Settings saved');
  const { defaults, retention, anonymousStreams, maxPending } = await settingsOf(space);
  expect({ defaults, retention, anonymousStreams, maxPending }).toEqual({
    defaults: { maxRetries: 7, timeoutSeconds: 9, retry: { delaySeconds: 5 } },
    retention: { deadSeconds: 60 },
    anonymousStreams: false,
    maxPending: undefined,
  });
});

it('discards edits of settings, and shows why a setting is refused', async () => {
  const dashboard = await open('#/spaces/spaces-refused/settings');
  await dashboard.fill('maxRetries', '101');
  await dashboard.click('Save 1 change');
  await dashboard.waitFor(/maxRetries.*(100|at most)/);
  await dashboard.click('Discard');
  await dashboard.fill('retry', '{');
  await dashboard.click('Save 1 change');
  await dashboard.waitFor('retry is not valid JSON');
  expect(await settingsOf('spaces-refused')).toEqual(await settingsOf('spaces-without-settings'));
});
