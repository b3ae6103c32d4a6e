import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createJob, jobIn, step } from '../../support/jobs.js';
import { type Nginx, startNginx } from '../../support/nginx.js';
import { withService } from '../../support/service.js';
import { withDashboards } from './with-dashboards.js';

// The dashboard behind nginx, at a path of another site, as docs/nginx-subpath.conf configures it.

const KEY_PREFIX = `t-${randomUUID().slice(0, 8)}`;
const api = withService({ KEY_PREFIX }, { app: 'api' });
const gateway = withService({ KEY_PREFIX }, { app: 'gateway' });
let nginx: Nginx;
beforeAll(async () => {
  const addressOf = ({ url }: { url: string }) => url.replace('http://', '');
  nginx = await startNginx({ api: [addressOf(api)], gateway: [addressOf(gateway)] }, { site: 'nginx-subpath.conf' });
});
afterAll(() => nginx?.stop());

const open = withDashboards({
  get url() {
    return `${nginx.url}/yardmaster`;
  },
});

it('works below a path of another site', async () => {
  const id = await jobIn(api, 'running', 'below');
  const dashboard = await open();
  await dashboard.click('below');
  await dashboard.waitForTexts('tbody td:nth-child(4)', ['running']);
  await dashboard.isListLive();
  await step(api, id, 'progress', { percent: 40, message: 'half way' });
  await dashboard.waitFor('40% half way');
  await createJob(api, 'below');
  await dashboard.find(/^1 new$/);

  await dashboard.go(`#/jobs/${id}`);
  await dashboard.click('Share progress…');
  await dashboard.click('Create link');
  await dashboard.find('Create another link');
  const [link = ''] = await dashboard.texts('dialog code');
  expect(link).toContain(`${nginx.url}/yardmaster/ui/#/progress/${id}?token=`);
  const guest = await open(new URL(link).hash, { key: null });
  await guest.waitFor('40% half way');
  await step(api, id, 'progress', { percent: 50, message: 'further' });
  await guest.waitFor('50% further');
  await dashboard.reload();
  await dashboard.waitFor('50% further');
});
