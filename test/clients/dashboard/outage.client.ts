import { expect, it } from '@jest/globals';
import { jobIn, step } from '../../support/jobs.js';
import { ADMIN_KEY, withService } from '../../support/service.js';
import { until } from '../../support/until.js';
import { withDashboards } from './with-dashboards.js';

// Calls that fail for a while. The page itself makes them fail, so that no others do.

const service = withService();
const open = withDashboards(service);

/**
 * A script after which some calls fail while the session of the tab has the item `away`. It counts them in `failures`.
 */
const failing = (calls: RegExp) => `
  const original = window.fetch;
  window.failures = 0;
  window.fetch = async (...args) => {
    if (sessionStorage.getItem('away') === null || !${calls}.test(String(args[0]))) return original(...args);
    window.failures++;
    throw new TypeError('away');
  };`;
const BEGIN = `sessionStorage.setItem('away', '')`;
const END = `sessionStorage.removeItem('away')`;

it('loads the log of an ended job after a failure', async () => {
  const id = await jobIn(service, 'running', 'outage-logs');
  await step(service, id, 'logs', { logs: [{ level: 'info', message: 'an entry' }] });
  await step(service, id, 'complete');
  const dashboard = await open('', { before: failing(/\/logs/) });
  await dashboard.page.evaluate(BEGIN);
  await dashboard.go(`#/jobs/${id}`);
  await dashboard.waitFor('Logs');
  await dashboard.waitFor('The service is not responding');
  // More often than the page and its stream retry.
  await until(() => dashboard.page.evaluate('window.failures > 3'));
  expect(await dashboard.texts('.entry')).toEqual([]);
  await dashboard.page.evaluate(END);
  await dashboard.waitFor('an entry');
});

it('notices on a page without periodic loads that the service is back', async () => {
  const dashboard = await open('#/keys', { before: failing(/./) });
  await dashboard.waitFor('API keys');
  await dashboard.page.evaluate(BEGIN);
  await dashboard.click('New key…');
  await dashboard.fill('Name', 'outage');
  await dashboard.click('Create');
  await dashboard.waitFor('The service is not responding');
  await dashboard.press('Escape');
  await dashboard.waitFor('This page shows the latest data it has');
  await dashboard.page.evaluate(END);
  await dashboard.waitForNo('This page shows the latest data it has');
});

it('stays signed in with the key of the tab when the service is back after a reload', async () => {
  const dashboard = await open('#/spaces/outage-reload', { before: failing(/keys\/self/) });
  await dashboard.page.evaluate(BEGIN);
  await dashboard.reload();
  await dashboard.waitFor('The service is not responding. This page keeps retrying.');
  await dashboard.page.evaluate(END);
  await dashboard.find('Sign out');
  expect(await dashboard.hash()).toBe('#/spaces/outage-reload');
});

it('rejects a key with an invalid character', async () => {
  const dashboard = await open('', { key: null });
  await dashboard.fill('API key', `${ADMIN_KEY}\u200b`);
  await dashboard.click('Sign in');
  await dashboard.waitFor('This key is not valid');
});
