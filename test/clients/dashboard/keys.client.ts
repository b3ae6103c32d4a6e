import { expect, it } from '@jest/globals';
import { masterOf, secretOf } from '../../support/callbacks.js';
import { withService } from '../../support/service.js';
import { withDashboards } from './with-dashboards.js';

const MASTER = masterOf('m');
const service = withService({ CALLBACK_SIGNING_SECRET: MASTER });
const open = withDashboards(service);

const selfOf = (key: string) => service.call('GET', '/keys/self', { key });

it('creates a key that works, and shows it once', async () => {
  const dashboard = await open('#/keys');
  await dashboard.click('New key…');
  await dashboard.fill('Name', 'ops');
  await dashboard.click('producer');
  await dashboard.click(/^jobs:kill/);
  await dashboard.fill('Space', 'shop');
  await dashboard.fill('Calls per second', '20');
  await dashboard.fill('Burst', '100');
  await dashboard.click('Create');
  await dashboard.waitFor('Copy the key now');
  const [secret = ''] = await dashboard.texts('dialog code');
  expect((await selfOf(secret)).body).toMatchObject({
    ...{ name: 'ops', spaceId: 'shop', expiresAt: null },
    scopes: ['jobs:create', 'jobs:read', 'jobs:kill'],
  });
  await dashboard.click('Close');
  await dashboard.waitFor('20/s, burst 100');
  await dashboard.reload();
  await dashboard.find('Rotate… ops');
  expect(await dashboard.page.evaluate('document.documentElement.outerHTML')).not.toContain(secret);
});

it('rotates a key without an overlap, after which only the new secret works', async () => {
  const { key } = await service.key(['jobs:read'], { name: 'rotated' });
  const dashboard = await open('#/keys');
  await dashboard.click('Rotate… rotated');
  await dashboard.choose(/^Overlap/, 'none');
  await dashboard.waitFor('Programs with the old secret lose access');
  await dashboard.click('Rotate');
  await dashboard.waitFor('New secret');
  const [secret = ''] = await dashboard.texts('dialog code');
  expect((await selfOf(secret)).body.name).toBe('rotated');
  expect((await selfOf(key)).status).toBe(401);
});

it('stays signed in with the new secret after a user rotates their own key', async () => {
  const { key } = await service.key(['keys:manage', 'jobs:read'], { name: 'mine' });
  const dashboard = await open('#/keys', { key });
  await dashboard.click('Rotate… mine');
  await dashboard.choose(/^Overlap/, 'none');
  await dashboard.click('Rotate');
  await dashboard.waitFor('You are signed in with the new secret.');
  await dashboard.click('Close');
  await dashboard.reload();
  await dashboard.find('Revoke… mine');
});

it('revokes a key in the dashboard', async () => {
  const { key } = await service.key(['jobs:read'], { name: 'revoked' });
  const dashboard = await open('#/keys');
  await dashboard.click('Revoke… revoked');
  await dashboard.click('Revoke');
  await dashboard.waitFor('Revoked revoked');
  expect((await selfOf(key)).status).toBe(401);
});

it('shows older keys on another page, and can keep the keys that were created with a revoked one', async () => {
  const { key, id } = await service.key(['keys:manage', 'jobs:read'], { name: 'maker', spaceId: 'paged' });
  const body = { name: 'made', scopes: ['jobs:read'] };
  const made = (await service.call('POST', '/keys', { key, body })).body;
  for (let n = 0; n < 49; n++) await service.key(['jobs:read'], { name: 'other', spaceId: 'paged' });
  const dashboard = await open('#/keys', {
    key: (await service.key(['keys:manage', 'jobs:read'], { spaceId: 'paged' })).key,
  });
  await dashboard.find('Rotate… test');
  await dashboard.waitForNo(id);
  await dashboard.click('Older');
  await dashboard.waitFor(id);
  await dashboard.click('Revoke… maker');
  await dashboard.click(/^Keep the keys created with it/);
  await dashboard.click('Revoke');
  await dashboard.waitFor('Revoked maker');
  expect([(await selfOf(key)).status, (await selfOf(made.key)).status]).toEqual([401, 200]);
  await dashboard.click('Newest');
  await dashboard.find('Rotate… test');
});

it('signs out after a user revokes their own key', async () => {
  const { key } = await service.key(['keys:manage'], { name: 'own' });
  const dashboard = await open('#/keys', { key });
  await dashboard.click('Revoke… own');
  await dashboard.click('Revoke');
  await dashboard.waitFor('You revoked the key that you were signed in with.');
  expect((await selfOf(key)).status).toBe(401);
});

it('shows the callback secret of a space', async () => {
  const dashboard = await open('#/spaces/shop/settings');
  await dashboard.click('Show callback secret…');
  await dashboard.click('Show');
  await dashboard.waitFor(secretOf(MASTER, 'shop'));
  await dashboard.click('Close');
  await dashboard.waitForNo(secretOf(MASTER, 'shop'));
});

it('records actions of the dashboard in the audit log', async () => {
  const { key } = await service.key(['keys:manage', 'spaces:manage', 'jobs:read'], { name: 'auditor' });
  const dashboard = await open('#/spaces/audited/settings', { key });
  await dashboard.click('Pause space…');
  await dashboard.click('Pause');
  await dashboard.waitFor('The whole space is paused.');
  await dashboard.click('Audit');
  await dashboard.waitFor(/auditor \S*pause\S* audited/);
  await service.call('POST', '/spaces/audited-later/pause');
  await dashboard.waitFor(/\S*pause\S* audited-later/);
});

it('signs in only with a valid key and forgets it on sign-out', async () => {
  const dashboard = await open('', { key: null });
  await dashboard.fill('API key', 'ym_wrong_key');
  await dashboard.click('Sign in');
  await dashboard.waitFor('This key is not valid');
  const { key } = await service.key(['jobs:read'], { name: 'signed' });
  await dashboard.fill('API key', key);
  await dashboard.click('Sign in');
  await dashboard.waitFor('key: signed');
  await dashboard.reload();
  await dashboard.waitFor('key: signed');
  await dashboard.go('#/spaces/shop?q=secret');
  await dashboard.click('Pause updates');
  await dashboard.click('Sign out');
  await dashboard.find('Sign in');
  expect(await dashboard.hash()).toMatch(/^(#\/)?$/);
  await dashboard.signIn(key);
  await dashboard.find('Pause updates');
  await dashboard.click('Sign out');
  await dashboard.reload();
  await dashboard.find('Sign in');
  expect(await dashboard.page.evaluate('sessionStorage.length + localStorage.length')).toBe(0);
});
