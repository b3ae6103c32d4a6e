import { expect, it } from '@jest/globals';
import { EventStreamClient } from '../support/event-stream-client.js';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { withStreams } from '../support/stream-client.js';
import { withGateway } from './gateway.js';

const service = withService();
const gateway = withGateway(service);
const open = withStreams(gateway);

const request = (body: object, key?: string) =>
  service.call('POST', '/stream-tokens', { body, ...(key === undefined ? {} : { key }) });
async function tokenFor(body: object, key?: string): Promise<string> {
  const { status, body: made } = await request(body, key);
  expect(status).toBe(201);
  return made.token;
}
const openWith = (token: string, path: string) => open(`${path}?token=${token}`);
/** Status with which a stream is refused. */
async function refusalOf(token: string, path: string): Promise<number> {
  const { response } = await EventStreamClient.open(gateway.url, `${path}?token=${token}`);
  return response.status;
}

it('a stream token opens only the streams of its jobs, with its scope', async () => {
  const [id, other] = [await jobIn(service, 'running', 'tokens'), await jobIn(service, 'running', 'tokens')];
  const [full, progress] = [
    await tokenFor({ scope: 'jobs:read', jobIds: [id] }),
    await tokenFor({ scope: 'jobs:read:progress', jobIds: [id] }),
  ];
  expect((await openWith(full, `/${id}`)).messages[0]).toMatchObject({ type: 'init', status: 'running' });
  expect((await openWith(progress, `/${id}`)).messages[0]).not.toHaveProperty('status');
  expect([await refusalOf(full, `/${other}`), await refusalOf(full, '/spaces/tokens')]).toEqual([403, 403]);
});

it('a stream token for a tag opens the streams of its jobs, and shows only those on the stream of a space', async () => {
  const { id } = await createJob(service, 'tokens', { tags: ['a', 'b'] });
  const { id: other } = await createJob(service, 'tokens', { tags: ['c'] });
  const token = await tokenFor({ scope: 'jobs:read', tag: 'b' });
  const space = await openWith(token, '/spaces/tokens');
  await openWith(token, `/${id}`);
  expect(await refusalOf(token, `/${other}`)).toBe(403);
  for (const jobId of [other, id]) await service.call('POST', `/jobs/${jobId}/kill`);
  await space.next('killed');
  expect(space.messages.slice(1).map(({ jobId, type }) => [jobId, type])).toEqual([[id, 'killed']]);
  // The counts are of all jobs.
  const { response } = await EventStreamClient.open(gateway.url, `/spaces/tokens?token=${token}&counts=1`);
  expect(response.status).toBe(403);
});

const NO_LONGER = { code: 1008, reason: 'this stream is no longer allowed' };

/** Create a job with a unique key, or replace the request of the one that has it. */
async function put(key: string, tags: string[]): Promise<string> {
  const body = { name: 'work', tags, unique: { key, until: 'started', onConflict: 'replace' } };
  return (await service.call('POST', '/spaces/tokens/jobs', { body })).body.id;
}

it('a stream token for a tag loses the stream of a job that is replaced by one without the tag', async () => {
  const id = await put('moved', ['mine']);
  const tokens = [
    await tokenFor({ scope: 'jobs:read', tag: 'mine' }),
    await tokenFor({ scope: 'jobs:read:progress', tag: 'mine' }),
  ];
  const clients = await Promise.all(tokens.map((token) => openWith(token, `/${id}`)));
  const ofJob = await openWith(await tokenFor({ scope: 'jobs:read', jobIds: [id] }), `/${id}`);
  expect(await put('moved', ['other', 'mine'])).toBe(id);
  await clients[0]?.next('replaced');
  await put('moved', ['other']);
  for (const client of clients) expect(await client.end()).toEqual(NO_LONGER);
  expect(clients.map((client) => client.types())).toEqual([['init', 'replaced'], ['init']]);
  expect(await refusalOf(tokens[0] as string, `/${id}`)).toBe(403);
  await service.call('POST', `/jobs/${id}/kill`);
  await ofJob.next('killed');
  expect(ofJob.types()).toEqual(['init', 'replaced', 'replaced', 'killed']);
});

it('a stream token for a tag opens the stream of a job that got the tag later, including its history', async () => {
  const id = await put('got', []);
  await put('got', ['mine']);
  const client = await open(`/${id}?since=0&token=${await tokenFor({ scope: 'jobs:read', tag: 'mine' })}`);
  await client.next('replaced');
  await service.call('POST', `/jobs/${id}/kill`);
  await client.next('killed');
  expect(client.types()).toEqual(['init', 'replaced', 'killed']);
});

it('a stream token for a space opens the streams of the space and its jobs, even if its key has none', async () => {
  const [id, other] = [await jobIn(service, 'running', 'tokens'), await jobIn(service, 'running', 'elsewhere')];
  const token = await tokenFor({ scope: 'jobs:read', spaceId: 'tokens' });
  await openWith(token, '/spaces/tokens');
  await openWith(token, `/${id}`);
  expect([await refusalOf(token, '/spaces/elsewhere'), await refusalOf(token, `/${other}`)]).toEqual([403, 403]);
  const ofProgress = await tokenFor({ scope: 'jobs:read:progress', spaceId: 'tokens' });
  expect([await refusalOf(ofProgress, '/spaces/tokens'), await refusalOf(ofProgress, `/${id}`)]).toEqual([403, 200]);
});

it('a stream token has at most the rights of the key that created it', async () => {
  const { key } = await service.key(['jobs:read:progress'], { spaceId: 'tokens' });
  const bySpace = { scope: 'jobs:read:progress', spaceId: 'elsewhere' };
  expect((await request({ scope: 'jobs:read', spaceId: 'tokens' }, key)).status).toBe(403);
  expect((await request(bySpace, key)).status).toBe(403);
  expect((await request({ ...bySpace, spaceId: 'tokens' }, (await service.key(['jobs:ack'])).key)).status).toBe(403);
  const other = await jobIn(service, 'running', 'elsewhere');
  const token = await tokenFor({ scope: 'jobs:read:progress', jobIds: [other] }, key);
  expect(await refusalOf(token, `/${other}`)).toBe(403);
});

it('a stream token ends with its key: its streams are closed and no more can be opened', async () => {
  const id = await jobIn(service, 'running', 'tokens');
  const { id: keyId, key } = await service.key(['jobs:read']);
  const token = await tokenFor({ scope: 'jobs:read', jobIds: [id] }, key);
  const client = await openWith(token, `/${id}`);
  await service.call('DELETE', `/keys/${keyId}`);
  expect(await client.end()).toMatchObject({ code: 1008 });
  expect(await refusalOf(token, `/${id}`)).toBe(401);
});

it('a stream token outlives a rotation of its key only during the overlap', async () => {
  const id = await jobIn(service, 'running', 'tokens');
  const { id: keyId, key } = await service.key(['jobs:read']);
  const token = await tokenFor({ scope: 'jobs:read', jobIds: [id] }, key);
  const rotate = (overlapSeconds: number) =>
    service.call('POST', `/keys/${keyId}/rotate`, { body: { overlapSeconds } });
  const { key: next } = (await rotate(3_600)).body;
  expect(await refusalOf(token, `/${id}`)).toBe(200);
  const later = await tokenFor({ scope: 'jobs:read', jobIds: [id] }, next);
  const client = await openWith(token, `/${id}`);
  await rotate(3_600);
  expect(await client.end()).toMatchObject({ code: 1008 });
  expect([await refusalOf(token, `/${id}`), await refusalOf(later, `/${id}`)]).toEqual([401, 200]);
});

it('a stream token expires with its key at the latest', async () => {
  const { key } = await service.key(['jobs:read'], { expiresAt: new Date(Date.now() + 100_000).toISOString() });
  const { body } = await request({ scope: 'jobs:read', spaceId: 'tokens', expiresInSeconds: 86_400 }, key);
  expect(Date.parse(body.expiresAt)).toBeLessThanOrEqual(Date.now() + 100_000);
  const made = await request({ scope: 'jobs:read', spaceId: 'tokens' });
  expect(Date.parse(made.body.expiresAt) - Date.now()).toBeGreaterThan(880_000);
});

it.each([
  ['another grant', (token: string) => token.replace(/_[^_]+_([^_]+)$/, '_e30_$1')],
  ['another key', (token: string) => token.replace('_admin_', '_aaaaaaaa_')],
  ['another signature', (token: string) => `${token.slice(0, -2)}${token.endsWith('AA') ? 'BB' : 'AA'}`],
  ['nothing after its prefix', () => 'ymst_'],
])('a stream token is refused with %s', async (_, changed) => {
  const token = changed(await tokenFor({ scope: 'jobs:read', spaceId: 'tokens' }));
  expect(await refusalOf(token, '/spaces/tokens')).toBe(401);
});

it('a stream token is refused as an API key', async () => {
  const key = await tokenFor({ scope: 'jobs:read', spaceId: 'tokens' });
  expect((await service.call('GET', '/spaces/tokens/jobs', { key })).status).toBe(401);
});

it('refuses to create a stream token that names no target, two targets, or a misspelled one', async () => {
  const errorOf = async (body: object) => (await request({ scope: 'jobs:read', ...body })).body.error;
  expect(await errorOf({})).toBe('jobIds or tag or spaceId is required');
  expect(await errorOf({ tag: 'a', spaceId: 'b' })).toBe('spaceId cannot be combined with tag');
  expect(await errorOf({ spaceId: 'b', tags: 'a' })).toMatch('unknown field tags, did you mean tag?');
  expect(await errorOf({ spaceId: 'b', expiresInSeconds: 59 })).toMatch(/^expiresInSeconds must be/);
});
