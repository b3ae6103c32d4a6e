import { expect, it } from '@jest/globals';
import { jobIn, step } from '../../support/jobs.js';
import { withReceiver } from '../../support/receiver.js';
import { withService } from '../../support/service.js';
import { until } from '../../support/until.js';
import { controlsOf } from './elements.js';
import { withDashboards } from './with-dashboards.js';

const service = withService();
const open = withDashboards(service);
const receiver = withReceiver();

it('shares a link that shows only the live progress of a job', async () => {
  const id = await jobIn(service, 'running', 'share', { name: 'secret-name', payload: { card: 'secret' } });
  await step(service, id, 'logs', { logs: [{ level: 'info', message: 'secret log' }] });
  const dashboard = await open(`#/jobs/${id}`);
  await dashboard.click('Share progress…');
  await dashboard.choose(/^Valid for/, '15');
  await dashboard.click('Create link');
  await dashboard.find('Create another link');
  const [link = ''] = await dashboard.texts('dialog code');
  expect(link).toContain(`${service.url}/ui/#/progress/${id}?token=`);

  const guest = await open(new URL(link).hash, { key: null });
  await guest.waitFor('Waiting for the first report');
  await step(service, id, 'progress', { percent: 30, message: 'Half way', subProgress: { decode: { percent: 100 } } });
  await guest.waitFor('Half way');
  expect(await guest.text()).toBe('Progress 30% Half way decode 100%');
  expect(await controlsOf(guest.page)).toEqual([]);
  await step(service, id, 'complete', { result: { secret: 1 } });
  await guest.waitFor('100% Done');
  expect(await guest.text()).not.toContain('secret');
  expect(guest.seen.requests.filter((request) => /^(GET|POST|ws).*\/api\/v1\/(?!realtime)/.test(request))).toEqual([]);
});

it('explains why a shared link shows nothing: another job, a broken token, a deleted job', async () => {
  const shared = await jobIn(service, 'completed', 'share');
  const other = await jobIn(service, 'running', 'share');
  await step(service, other, 'progress', { percent: 30, message: 'of the other job' });
  const body = { scope: 'jobs:read:progress', jobIds: [shared] };
  const { token } = (await service.call('POST', '/stream-tokens', { body })).body;
  const saidOf = async (hash: string, said: string) => {
    const guest = await open(hash, { key: null });
    await guest.waitFor(said);
    expect(await guest.text()).toBe(`Progress 0% Waiting for the first report ${said}`);
  };
  await saidOf(`#/progress/${other}?token=${token}`, 'This job cannot be watched with this link.');
  await saidOf(`#/progress/${other}?token=${token.slice(0, -3)}`, 'This link is invalid or has expired.');
  await service.call('DELETE', `/jobs/${shared}`);
  await saidOf(`#/progress/${shared}?token=${token}`, 'This job no longer exists.');
});

it('resends the callback of a job from the dashboard', async () => {
  const callbackUrl = receiver.script('/again', (response) => response.writeHead(204).end());
  const id = await jobIn(service, 'completed', 'share', { callbackUrl });
  await until(() => receiver.requestsTo('/again').length === 1);
  const dashboard = await open(`#/jobs/${id}`);
  await dashboard.click('Resend callback…');
  await dashboard.waitFor(`To ${callbackUrl}`);
  await dashboard.click('Resend');
  await dashboard.waitFor('Resending the callback');
  await until(() => receiver.requestsTo('/again').length === 2);
  const sent = async () => (await dashboard.texts('[aria-label=History] td:nth-child(2)')).join();
  await until(async () => (await sent()).startsWith('callback_sent,callback_sent'));
});
