import { beforeAll, describe, expect, it } from '@jest/globals';
import { createJob, jobIn, step } from '../../support/jobs.js';
import { withService } from '../../support/service.js';
import { until } from '../../support/until.js';
import { withDashboards } from './with-dashboards.js';

const service = withService();
const open = withDashboards(service);

const SPACE = 'scopes-shop';
const STATUSES = ['scheduled', 'pending', 'delivered', 'running', 'completed', 'dead', 'killed'] as const;
const ids: Record<string, string> = {};

beforeAll(async () => {
  const options = { callbackUrl: 'http://127.0.0.1:9/none', payload: { page: 1 } };
  for (const status of STATUSES) if (status !== 'delivered') ids[status] = await jobIn(service, status, SPACE, options);
  ids.delivered = await jobIn(service, 'pending', SPACE, options);
  await step(service, ids.delivered, 'claim', { ackWithinSeconds: 3600 }); // Longer than the tests take.
  await createJob(service, 'scopes-other', { name: 'hidden' });
  const body = { action: 'kill', filter: { status: ['scheduled'], names: ['none'] } };
  await service.call('POST', `/spaces/${SPACE}/operations`, { body });
});

describe('with a key that has only jobs:read', () => {
  const FRAME = [
    'Skip to content',
    'Find a job, name or tag Ctrl K',
    'Pause updates',
    'Keyboard shortcuts',
    'Sign out',
  ];
  const OF_JOBS = ['Export all matching jobs'];
  const OF_JOB = ['Share progress…', 'Copy ID'];

  it('shows no button that changes anything to a key with only jobs:read', async () => {
    const { key } = await service.key(['jobs:read'], { name: 'viewer' });
    const dashboard = await open('', { key });
    /** Open a page, and return the names of its buttons, except for those of the frame. */
    const buttonsAt = async (hash: string, shown: string | RegExp) => {
      await dashboard.go(hash);
      await dashboard.waitFor(shown);
      return (await dashboard.names('button')).filter((name) => !FRAME.includes(name));
    };
    const seen: Record<string, string[]> = {
      spaces: await buttonsAt('#/', /failed with/),
      jobs: await buttonsAt(`#/spaces/${SPACE}`, 'broken'),
      operations: await buttonsAt(`#/spaces/${SPACE}/operations`, 'name none'),
      settings: await buttonsAt(`#/spaces/${SPACE}/settings`, 'spaces:manage'),
      keys: await buttonsAt('#/keys', 'keys:manage'),
      audit: await buttonsAt('#/audit', 'keys:manage'),
    };
    await dashboard.go(`#/spaces/${SPACE}`);
    await dashboard.waitFor('broken');
    expect(await dashboard.names('checkbox')).toEqual([]);
    for (const status of STATUSES) seen[status] = await buttonsAt(`#/jobs/${ids[status]}`, `work ${status}`);
    expect(seen).toEqual({
      ...{ spaces: [], jobs: OF_JOBS, operations: [], settings: [], keys: [], audit: [] },
      ...Object.fromEntries(STATUSES.map((status) => [status, OF_JOB])),
    });
  });

  it('shows no link to settings, keys or the audit log to a key with only jobs:read', async () => {
    const { key } = await service.key(['jobs:read']);
    const dashboard = await open(`#/spaces/${SPACE}`, { key });
    await dashboard.find('Operations');
    const links = await dashboard.names('link');
    expect(links.filter((name) => ['Keys', 'Audit', 'Settings'].includes(name))).toEqual([]);
  });

  it.each([
    ['POST', `spaces/${SPACE}/jobs`],
    ['POST', 'jobs/$/kill'],
    ['POST', 'jobs/$/requeue'],
    ['POST', 'jobs/$/reschedule'],
    ['POST', 'jobs/$/copy'],
    ['POST', 'jobs/$/callback/redeliver'],
    ['DELETE', 'jobs/$'],
    ['POST', `spaces/${SPACE}/operations`],
    ['POST', `spaces/${SPACE}/pause`],
    ['PATCH', `spaces/${SPACE}/settings`],
    ['POST', 'keys'],
    ['GET', 'audit'],
    ['GET', `spaces/${SPACE}/callback-secret`],
  ])('the service refuses %s %s to a key that has only jobs:read', async (method, path) => {
    const { key } = await service.key(['jobs:read']);
    const body = method === 'POST' || method === 'PATCH' ? {} : undefined;
    const { status } = await service.call(method, `/${path.replace('$', ids.dead as string)}`, { key, body });
    expect(status).toBe(403);
  });
});

it('shows only one space to a key that is bound to it', async () => {
  const { key } = await service.key(['jobs:read', 'jobs:manage'], { spaceId: SPACE });
  const dashboard = await open('', { key });
  await dashboard.waitFor(/failed with/); // The last part of the page to load.
  expect(await dashboard.text()).not.toContain('scopes-other');
  await dashboard.click(/^Find a job/);
  await dashboard.fill('Job ID', 'hidden');
  await dashboard.waitFor(`Jobs with the tag hidden in ${SPACE}`);
  expect(await dashboard.text()).not.toContain('scopes-other');
  await dashboard.press('Escape');
  await dashboard.go('#/spaces/scopes-other');
  await dashboard.waitFor(/FORBIDDEN|space|not/i);
  await until(async () => (await dashboard.texts('[role=alert]')).length > 0);
  expect(await dashboard.texts('tbody')).toEqual([]);
});

it.each([
  ['the spaces', () => '#/', 'failed with'],
  ['the jobs of a space', () => `#/spaces/${SPACE}`, 'broken'],
  ['a job that runs', () => `#/jobs/${ids.running}`, 'work running'],
  ['the operations', () => `#/spaces/${SPACE}/operations`, 'name none'],
])('signs out with the reason when the key is revoked on the page of %s', async (_, hash, shown) => {
  const { id, key } = await service.key(['jobs:read'], { name: 'leaver' });
  const dashboard = await open(hash(), { key });
  await dashboard.waitFor(shown);
  expect((await service.call('DELETE', `/keys/${id}`)).status).toBe(200);
  await dashboard.waitFor('This key no longer works');
  await dashboard.find('Sign in');
  expect(await dashboard.page.evaluate('sessionStorage.length')).toBe(0);
});

it('does not show an open dialog to the next user who signs in', async () => {
  const { id, key } = await service.key(['keys:manage', 'jobs:read'], { name: 'leaver' });
  const dashboard = await open(`#/jobs/${ids.running}`, { key });
  await dashboard.click('Share progress…');
  await dashboard.find('Create link');
  await service.call('DELETE', `/keys/${id}`);
  await dashboard.waitFor('This key no longer works');
  await dashboard.signIn((await service.key(['jobs:read'], { name: 'next' })).key);
  await dashboard.waitFor('key: next');
  expect(await dashboard.names('dialog')).toEqual([]);
});
