import { describe, expect, it } from '@jest/globals';
import { createJob, jobIn, step } from '../../support/jobs.js';
import { withReceiver } from '../../support/receiver.js';
import { withService } from '../../support/service.js';
import { until } from '../../support/until.js';
import type { Dashboard } from './dashboard.js';
import { withDashboards } from './with-dashboards.js';

const service = withService();
const open = withDashboards(service);
const receiver = withReceiver();

const STATUS = 'tbody td:nth-child(4)';
const shownIds = (dashboard: Dashboard): Promise<string[]> =>
  dashboard.page.evaluate(`[...document.querySelectorAll('tbody a.id')].map(({ title }) => title)`);

it('loads the counts of a space only while its row is visible', async () => {
  const spaces = Array.from({ length: 40 }, (_, n) => `zz-live-row-${10 + n}`);
  await Promise.all(spaces.map((space) => createJob(service, space)));
  const dashboard = await open();
  const hasAsked = (space: string) => dashboard.seen.requests.some((request) => request.includes(`/${space}/stats`));
  await dashboard.find('zz-live-row-49');
  await until(() => dashboard.seen.responses.some((request) => request.includes('/stats')));
  await dashboard.rendered();
  expect(hasAsked('zz-live-row-49')).toBe(false);
  await dashboard.scrollTo('zz-live-row-49');
  await until(() => hasAsked('zz-live-row-49'));
});

it('updates rows and counts of a space in place while a worker runs jobs', async () => {
  const { id: other } = await createJob(service, 'live-rows');
  const { id } = await createJob(service, 'live-rows', { maxRetries: 0 });
  const dashboard = await open('#/spaces/live-rows');
  await dashboard.waitForTexts(STATUS, ['pending', 'pending']);
  await dashboard.isListLive();
  for (const [verb, status] of [
    ['claim', 'delivered'],
    ['ack', 'running'],
  ] as const) {
    await step(service, id, verb);
    await dashboard.waitForTexts(STATUS, [status, 'pending']);
  }
  await step(service, id, 'progress', { percent: 41, message: 'half way' });
  await dashboard.waitForTexts('tbody td:nth-child(6)', ['41% half way', '–']);
  await dashboard.waitFor(/running 1/);
  await step(service, id, 'fail', { error: 'no paper' });
  await dashboard.waitForTexts('tbody td:nth-child(11)', ['no paper', '']);
  await dashboard.waitForTexts(STATUS, ['dead', 'pending']);
  await dashboard.waitFor(/running 0/);
  await dashboard.waitFor(/dead 1/);
  expect(await shownIds(dashboard)).toEqual([id, other]);
});

it('holds new jobs behind a button, so that no row moves', async () => {
  const { id: first } = await createJob(service, 'live-new');
  const dashboard = await open('#/spaces/live-new');
  await dashboard.waitForTexts(STATUS, ['pending']);
  await dashboard.isListLive();
  const { id: second } = await createJob(service, 'live-new');
  await dashboard.find(/^1 new$/);
  const { id: third } = await createJob(service, 'live-new');
  await dashboard.find(/^2 new$/);
  expect(await shownIds(dashboard)).toEqual([first]);
  await dashboard.click(/^2 new$/);
  await until(async () => (await shownIds(dashboard)).length === 3);
  expect(await shownIds(dashboard)).toEqual([third, second, first]);
  await dashboard.waitForNo(/\d new /);
});

it('counts only new jobs that match the filter', async () => {
  await createJob(service, 'live-filter', { name: 'shown' });
  const dashboard = await open('#/spaces/live-filter?name=shown&status=pending');
  await dashboard.waitForTexts(STATUS, ['pending']);
  await dashboard.isListLive();
  await createJob(service, 'live-filter', { name: 'other' });
  await createJob(service, 'live-filter', { name: 'shown', delaySeconds: 3600 });
  await createJob(service, 'live-filter', { name: 'shown' });
  await dashboard.find(/^(up to )?1 new$/);
});

it('does not count older jobs on the next page as new', async () => {
  const { id } = await createJob(service, 'live-older');
  const body = Array(100).fill({ name: 'work' });
  await service.call('POST', '/spaces/live-older/jobs', { body });
  const dashboard = await open('#/spaces/live-older');
  await dashboard.find('Older');
  await dashboard.isListLive();
  await step(service, id, 'claim');
  await createJob(service, 'live-older');
  await dashboard.find(/^1 new$/);
});

describe('paused updates', () => {
  it("paused updates still show the person's own changes", async () => {
    const id = await jobIn(service, 'running', 'live-pause-act');
    const dashboard = await open('#/spaces/live-pause-act');
    await dashboard.isListLive();
    await dashboard.click('Pause updates');
    await dashboard.click(`Kill… ${id}`);
    await dashboard.click('Kill 1 job');
    await dashboard.waitForTexts(STATUS, ['killed']);
    await dashboard.waitFor(/killed 1/);
  });

  // Run the timers of the page faster, and count them.
  const FAST = `
    window.periods = 0;
    for (const name of ['setTimeout', 'setInterval']) {
      const original = window[name];
      window[name] = (act, ms = 0) => original(() => { if (ms >= 1000) window.periods++; act(); }, ms >= 1000 ? ms / 50 : ms);
    }`;

  const ended = (space: string) =>
    jobIn(service, 'completed', space, { callbackUrl: receiver.script('/none', (response) => response.end()) });

  it.each([
    ['the spaces', async () => '#/'],
    ['the jobs of a space', async () => '#/spaces/live-pause'],
    ['a job that has ended', async () => `#/jobs/${await ended('live-pause')}`],
    ['a job that runs', async () => `#/jobs/${await jobIn(service, 'running', 'live-pause')}`],
    ['the operations', async () => '#/spaces/live-pause/operations'],
    ['the settings', async () => '#/spaces/live-pause/settings'],
  ])('the screen of %s sends no requests while updates are paused', async (_, hash) => {
    const id = await jobIn(service, 'running', 'live-pause');
    const dashboard = await open(await hash(), { before: FAST });
    await dashboard.waitFor('live-pause');
    await dashboard.click('Pause updates');
    await dashboard.waitFor('paused');
    const periods = () => dashboard.page.evaluate('window.periods');
    // Requests from before the pause may still trigger others.
    const pass = async (count: number) => {
      const end = (await periods()) + count;
      await until(async () => (await periods()) >= end);
    };
    await pass(50);
    const before = dashboard.seen.requests.length;
    await step(service, id, 'complete');
    await createJob(service, 'live-pause');
    await pass(200);
    expect(dashboard.seen.requests.slice(before)).toEqual([]);
  });

  it('catches up when paused updates resume', async () => {
    const id = await jobIn(service, 'running', 'live-catch-up');
    const dashboard = await open('#/spaces/live-catch-up');
    await dashboard.waitForTexts(STATUS, ['running']);
    await dashboard.isListLive();
    await dashboard.click('Pause updates');
    await dashboard.find('Go live');
    await step(service, id, 'complete');
    await createJob(service, 'live-catch-up');
    expect(await dashboard.texts(STATUS)).toEqual(['running']);
    await dashboard.click('Go live');
    await dashboard.waitForTexts(STATUS, ['pending', 'completed']);
  });
});
