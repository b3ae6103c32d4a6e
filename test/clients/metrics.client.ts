import { spawnSync } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { installed } from '../support/installed.js';
import { jobIn } from '../support/jobs.js';
import { type ServiceOptions, startService, type TestService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { StreamClient } from '../support/stream-client.js';

const promtool = installed('promtool', 'prometheus');

/** Expect that the linter of Prometheus finds nothing in a scrape. */
async function check({ http }: TestService): Promise<void> {
  const { text } = await http.call('GET', '/metrics');
  const { status, stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
}

const APPS: { app: Required<ServiceOptions>['app'] }[] = [{ app: 'api' }, { app: 'gateway' }, { app: 'scheduler' }];

it.each(APPS)('promtool accepts the metrics of the $app, idle and after some requests', async ({ app }) => {
  const service = await startService({}, { app, isOwn: true });
  try {
    await check(service);
    for (const path of ['/', '/livez', '/api/v1/jobs/x', '/api/v1/realtime/x', '/%zz']) {
      await service.http.call('GET', path);
    }
    await check(service);
  } finally {
    await service.stop();
  }
});

it('promtool accepts the metrics of the standalone with jobs, streams and a callback', async () => {
  const service = await startService({ CALLBACK_RETRY_DELAYS: '3600' });
  try {
    for (const status of ['pending', 'running', 'dead', 'killed'] as const) await jobIn(service, status, 'a:b.c_d-e');
    const id = await jobIn(service, 'completed', 'other', { callbackUrl: 'http://127.0.0.1:1/' });
    await service.call('POST', `/jobs/${id}/logs`, { body: ['line'] });
    await service.call('GET', '/spaces/other/stats');
    const client = await StreamClient.open(service.url, `/spaces/other?token=${ADMIN_KEY}`);
    await check(service);
    await client.close();
    await check(service);
  } finally {
    await service.stop();
  }
});
