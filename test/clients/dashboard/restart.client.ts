import { expect, it } from '@jest/globals';
import { during } from '../../support/during.js';
import { freePort } from '../../support/free-port.js';
import { createJob, jobIn, step } from '../../support/jobs.js';
import { withRedis } from '../../support/own-redis.js';
import { type RunningApp, startApp } from '../../support/process.js';
import { openService, type TestService } from '../../support/service.js';
import { ADMIN_KEY, LONG_REDIS_TIMEOUT } from '../../support/shared-service.js';
import type { Dashboard } from './dashboard.js';
import { withDashboards } from './with-dashboards.js';

// Pages stay open while the service restarts on the same port with the same Redis.

const redis = withRedis();
let port: number;
let running: RunningApp;
let service: TestService;

async function start(): Promise<void> {
  running = await startApp('standalone', {
    ...LONG_REDIS_TIMEOUT,
    ...{ ADMIN_API_KEY: ADMIN_KEY, KEY_PREFIX: 'restart', REDIS_URL: redis.url, PORT: `${port}` },
  });
}

during(
  async () => {
    port = await freePort();
    await start();
    service = openService({ url: running.url, redisUrl: redis.url, prefix: 'restart' });
    return {};
  },
  async () => {
    await service.stop();
    await running.stop();
  },
);

const open = withDashboards({
  get url() {
    return running.url;
  },
});

/** Restart the service, and wait until the page reports the outage and recovers, without a reload. */
async function restart(dashboard: Dashboard): Promise<void> {
  await dashboard.page.evaluate('void (window.isSamePage = true)');
  await running.stop();
  await dashboard.waitFor('The service is not responding.');
  await start();
  await dashboard.waitForNo('The service is not responding.');
}

const isSamePage = (dashboard: Dashboard) => dashboard.page.evaluate('window.isSamePage === true');

it('shows correct rows in the list of jobs after a restart of the service', async () => {
  const worked = await jobIn(service, 'running', 'restart-jobs');
  const left = await jobIn(service, 'pending', 'restart-jobs');
  const dashboard = await open('#/spaces/restart-jobs');
  await dashboard.find(`Select ${left}`);
  await restart(dashboard);
  await step(service, worked, 'complete');
  await step(service, left, 'kill');
  await dashboard.waitForTexts('tbody td:nth-child(4)', ['killed', 'completed']);
  await dashboard.isLive();
  await step(service, left, 'requeue');
  await dashboard.waitForTexts('tbody td:nth-child(4)', ['pending', 'completed']);
  expect(await isSamePage(dashboard)).toBe(true);
});

it('shows each event once on the page of a job after a restart of the service', async () => {
  const id = await jobIn(service, 'running', 'restart-job');
  await step(service, id, 'progress', { percent: 10, message: 'begun' });
  const dashboard = await open(`#/jobs/${id}`);
  await dashboard.waitFor('begun');
  await dashboard.isLive();
  await restart(dashboard);
  await step(service, id, 'progress', { percent: 20, message: 'after the restart' });
  await dashboard.waitFor('after the restart');
  await step(service, id, 'complete', { result: { pages: 3 } });
  await dashboard.waitFor('"pages": 3');
  await dashboard.waitFor('100% after the restart');
  const events = ['completed', 'progress', 'progress', 'acked', 'delivered', 'created'];
  await dashboard.waitForTexts('[aria-label=History] td:nth-child(2)', events);
  expect(await isSamePage(dashboard)).toBe(true);
});

it('updates the list of spaces after a restart of the service', async () => {
  const id = await jobIn(service, 'running', 'restart-spaces');
  const dashboard = await open();
  await dashboard.find('restart-spaces');
  await restart(dashboard);
  await step(service, id, 'fail', { error: 'broken', noRetry: true });
  await service.call('POST', `/jobs/${id}/kill`);
  await createJob(service, 'restart-later');
  await dashboard.find('restart-later');
  expect(await isSamePage(dashboard)).toBe(true);
});
