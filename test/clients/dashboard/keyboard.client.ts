import { expect, it } from '@jest/globals';
import { createJob, jobIn } from '../../support/jobs.js';
import { withService } from '../../support/service.js';
import { ADMIN_KEY } from '../../support/shared-service.js';
import { until } from '../../support/until.js';
import type { Dashboard } from './dashboard.js';
import { hasName, type Name } from './elements.js';
import { withDashboards } from './with-dashboards.js';

// Without a mouse.

const service = withService();
const open = withDashboards(service);
const statusOf = async (id: string) => (await service.call('GET', `/jobs/${id}`)).body.status;

/** Wait until the focus is on the element with this name. */
const focusIsOn = (dashboard: Dashboard, name: Name) =>
  until(async () => {
    const focused = await dashboard.focused();
    return focused !== null && hasName(focused, name);
  });

it('signs in, opens a space, filters it, opens a job, requeues it and goes back by keyboard', async () => {
  const id = await jobIn(service, 'dead', 'keyboard-requeue');
  await createJob(service, 'keyboard-requeue');
  const dashboard = await open('', { key: null });
  await dashboard.tabTo(/^API key/);
  await dashboard.type(ADMIN_KEY);
  await dashboard.press('Enter');
  await dashboard.find('Sign out');
  await dashboard.waitFor('Median wait');
  // The same link also appears among the dead jobs.
  for (let i = 0; i < 60 && (await dashboard.focused())?.name !== 'keyboard-requeue'; i++) await dashboard.press('Tab');
  await dashboard.press('Enter');
  await dashboard.waitForTexts('tbody td:nth-child(4)', ['pending', 'dead']);
  await dashboard.tabTo(/^dead/);
  await dashboard.press('Enter');
  await dashboard.waitForTexts('tbody td:nth-child(4)', ['dead']);
  await dashboard.press('j', 'Enter');
  await dashboard.waitFor('work dead');
  await dashboard.press('r');
  await focusIsOn(dashboard, /^Delay in seconds/);
  await dashboard.press('Enter');
  await dashboard.waitFor('work pending');
  expect(await statusOf(id)).toBe('pending');
  await dashboard.tabTo('keyboard-requeue');
  await dashboard.press('Enter');
  await dashboard.waitForTexts('tbody td:nth-child(4)', ['pending', 'pending']);
});

it('selects two jobs with j and x and deletes them by keyboard', async () => {
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) ids.push(await jobIn(service, 'completed', 'keyboard-delete'));
  const dashboard = await open('#/spaces/keyboard-delete');
  await dashboard.find(`Select ${ids[0]}`);
  await dashboard.press('j', 'x', 'j', 'j', 'x', 'k', 'x', 'x');
  await dashboard.tabTo('Delete 2 selected…', { key: 'Shift+Tab' });
  await dashboard.press('Space');
  await dashboard.waitFor('Delete 2 jobs');
  await dashboard.tabTo('Delete 2');
  await dashboard.press('Enter');
  const left = async () => (await service.call('GET', '/spaces/keyboard-delete/jobs')).body;
  await until(async () => (await left()).length === 1);
  expect(await left()).toMatchObject([{ id: ids[1] }]);
});

it('r requeues only the job in the focused row', async () => {
  const first = await jobIn(service, 'dead', 'keyboard-row');
  const last = await jobIn(service, 'dead', 'keyboard-row');
  const dashboard = await open('#/spaces/keyboard-row');
  await dashboard.find(`Select ${first}`);
  await dashboard.press('j', 'j', 'r');
  await focusIsOn(dashboard, /^Delay in seconds/);
  await dashboard.press('Enter');
  await dashboard.waitForTexts('tbody td:nth-child(4)', ['dead', 'pending']);
  expect([await statusOf(first), await statusOf(last)]).toEqual(['pending', 'dead']);
});

it('r does nothing in a list while no row is focused', async () => {
  await jobIn(service, 'dead', 'keyboard-no-row');
  const dashboard = await open('#/spaces/keyboard-no-row');
  await dashboard.waitForTexts('tbody td:nth-child(4)', ['dead']);
  await dashboard.press('r');
  await dashboard.rendered();
  expect(await dashboard.names('dialog')).toEqual([]);
});

it('Ctrl+K finds a job by its ID, and a slash focuses the search field', async () => {
  const { id } = await createJob(service, 'keyboard-find');
  const dashboard = await open('#/spaces/keyboard-find');
  await dashboard.find(`Select ${id}`);
  await dashboard.press('/');
  await focusIsOn(dashboard, 'find');
  await dashboard.type('jk?rx');
  await until(async () => (await dashboard.hash()) === '#/spaces/keyboard-find?q=jk%3Frx');
  await dashboard.press('Control+k');
  await focusIsOn(dashboard, /^Job ID/);
  await dashboard.type(id);
  await dashboard.press('Enter');
  await dashboard.waitFor('work pending');
  expect(await dashboard.hash()).toBe(`#/jobs/${id}`);
});

it.each([
  ['Escape', async (dashboard: Dashboard) => dashboard.press('Escape')],
  [
    'its button',
    async (dashboard: Dashboard) => {
      await dashboard.tabTo(/^(Cancel|Close)$/);
      await dashboard.press('Enter');
    },
  ],
])('restores the focus when a dialog is closed with %s', async (_, close) => {
  const id = await jobIn(service, 'running', 'keyboard-focus');
  const dashboard = await open(`#/jobs/${id}`);
  for (const [openIt, title] of [
    [() => dashboard.click('Kill…'), /^Kill work/],
    [() => dashboard.press('Control+k'), /^Find/],
    [() => dashboard.press('?'), /^Keyboard shortcuts/],
  ] as const) {
    await openIt();
    await dashboard.waitForDialog(title);
    await close(dashboard);
    await until(() => dashboard.page.evaluate(`document.querySelector('dialog') === null`));
    await focusIsOn(dashboard, 'Kill…');
  }
  expect(await statusOf(id)).toBe('running');
});

it('keeps a dialog open that opens right after another one closed', async () => {
  const dashboard = await open('#/');
  await dashboard.press('Control+k');
  await dashboard.waitForDialog(/^Find/);
  await dashboard.page.evaluate(`new Promise((done) => {
    const observer = new MutationObserver(() => {
      if (document.querySelector('dialog') !== null) return;
      observer.disconnect();
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '?', bubbles: true }));
      done();
    });
    observer.observe(document.body, { childList: true, subtree: true });
    document.querySelector('dialog').close();
  })`);
  await dashboard.rendered();
  await dashboard.rendered();
  await dashboard.waitForDialog(/^Keyboard shortcuts/);
});

it('j and k reach each row with a link in Spaces and Audit', async () => {
  for (const space of ['keyboard-a', 'keyboard-b', 'keyboard-c']) {
    await jobIn(service, 'dead', space);
    await jobIn(service, 'killed', space);
  }
  for (const hash of ['#/', '#/audit']) {
    const dashboard = await open(hash);
    await dashboard.waitFor('keyboard-c');
    const linked = `[...document.querySelectorAll('tbody tr:has(a)')]`; // An entry about a key has no link.
    const rows: number = await dashboard.page.evaluate(`${linked}.length`);
    const at = () => dashboard.page.evaluate(`${linked}.indexOf(document.activeElement.closest('tr'))`);
    const reached: number[] = [];
    for (let i = 0; i <= rows; i++) {
      await dashboard.press('j');
      reached.push(await at());
    }
    expect({ hash, reached }).toEqual({ hash, reached: [...Array(rows).keys(), rows - 1] });
    await dashboard.press('k');
    expect({ hash, row: await at() }).toEqual({ hash, row: rows - 2 });
  }
});
