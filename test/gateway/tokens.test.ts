import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { SCOPES } from '@yardmaster/protocol';
import { jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { withStreams } from '../support/stream-client.js';
import { destroySockets, expectRefusal, sendHandshake, UNKNOWN_JOB } from './handshake.js';

const service = withService();
const open = withStreams(service);
afterEach(destroySockets);

let jobId: string;
beforeAll(async () => {
  jobId = await jobIn(service, 'running', 'yard');
});

const STATUS: Record<string, number> = {
  INVALID_REQUEST: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  JOB_NOT_FOUND: 404,
};

type Outcome = 'full' | 'progress' | 'space' | 'UNAUTHENTICATED' | 'FORBIDDEN' | 'INVALID_REQUEST' | 'JOB_NOT_FOUND';

/** Makes the query of a stream, with its `?`. */
type Query = () => string | Promise<string>;

const withKey =
  (scopes: string[], fields?: { spaceId?: string; expiresAt?: string }): Query =>
  async () =>
    `?token=${(await service.key(scopes, fields)).key}`;
const revoked: Query = async () => {
  const { id, key } = await service.key(['jobs:read']);
  await service.call('DELETE', `/keys/${id}`);
  return `?token=${key}`;
};
const expired: Query = async () => {
  const { id, key } = await service.key(['jobs:read']);
  const { redis, store } = service;
  const record = JSON.parse((await redis.hget(store.keys.apiKeys, id)) as string);
  await redis.hset(store.keys.apiKeys, id, JSON.stringify({ ...record, expiresAt: '2020-01-01T00:00:00.000Z' }));
  return `?token=${key}`;
};
const wrongSecret: Query = async () => `?token=ym_${(await service.key(['jobs:read'])).id}_${'0'.repeat(64)}`;
const twice: Query = async () => {
  const { key } = await service.key(['jobs:read']);
  return `?token=${key}&token=${key}`;
};
const boundTo = (spaceId: string, scope: string) => withKey([scope], { spaceId });

/** Outcomes of a stream of a job, of its space, and of an unknown job. */
type Outcomes = readonly [job: Outcome, space: Outcome, unknownJob: Outcome];
const always = (outcome: Outcome): Outcomes => [outcome, outcome, outcome];
const FULL: Outcomes = ['full', 'space', 'JOB_NOT_FOUND'];
const PROGRESS: Outcomes = ['progress', 'FORBIDDEN', 'JOB_NOT_FOUND'];
const ANONYMOUS: Outcomes = ['progress', 'UNAUTHENTICATED', 'JOB_NOT_FOUND'];
/** A job that does not exist is in no space. */
const ELSEWHERE: Outcomes = ['FORBIDDEN', 'FORBIDDEN', 'JOB_NOT_FOUND'];

/** Outcomes for each token. */
const ROWS: [token: string, query: Query, outcomes: Outcomes][] = [
  ['no token', () => '', ANONYMOUS],
  ['another parameter', () => `?key=${ADMIN_KEY}`, always('INVALID_REQUEST')],
  ['a key and another parameter', () => `?token=${ADMIN_KEY}&tokn=x`, always('INVALID_REQUEST')],
  ['an empty token', () => '?token=', always('UNAUTHENTICATED')],
  ['garbage', () => '?token=garbage', always('UNAUTHENTICATED')],
  ['an unknown key', () => `?token=ym_${'a'.repeat(16)}_${'0'.repeat(64)}`, always('UNAUTHENTICATED')],
  ['a wrong secret', wrongSecret, always('UNAUTHENTICATED')],
  ['a revoked key', revoked, always('UNAUTHENTICATED')],
  ['an expired key', expired, always('UNAUTHENTICATED')],
  ['a key twice', twice, always('INVALID_REQUEST')],
  ['the admin key', () => `?token=${ADMIN_KEY}`, FULL],
  ['jobs:read', withKey(['jobs:read']), FULL],
  ['jobs:worker', withKey(['jobs:worker']), FULL],
  ['jobs:read:progress', withKey(['jobs:read:progress']), PROGRESS],
  ['jobs:read:progress and jobs:read', withKey(['jobs:read:progress', 'jobs:read']), FULL],
  ...SCOPES.filter((scope) => !/^jobs:(read|read:progress|worker)$/.test(scope)).map(
    (scope): [string, Query, Outcomes] => [scope, withKey([scope]), always('FORBIDDEN')],
  ),
  ['jobs:read in the space', boundTo('yard', 'jobs:read'), FULL],
  ['jobs:read:progress in the space', boundTo('yard', 'jobs:read:progress'), PROGRESS],
  ['jobs:read in another space', boundTo('Yard', 'jobs:read'), ELSEWHERE],
  ['jobs:read:progress in another space', boundTo('Yard', 'jobs:read:progress'), ELSEWHERE],
];

/** Return what a stream shows when it opens, or the code of its refusal. */
async function outcomeOf(path: string): Promise<string> {
  const response = await sendHandshake(service.url, `/api/v1/realtime${path}`);
  if (response.status !== 101) {
    const { code } = response.body;
    await expectRefusal(response, STATUS[code] as number, code);
    return code;
  }
  const [init] = (await open(path)).messages;
  if ('spaceId' in init) return 'space';
  return 'status' in init ? 'full' : 'progress';
}

it.each(ROWS)('opens or refuses a stream by its token: %s', async (_, query, [job, space, unknownJob]) => {
  const token = await query();
  expect({
    job: await outcomeOf(`/${jobId}${token}`),
    space: await outcomeOf(`/spaces/yard${token}`),
    unknownJob: await outcomeOf(`/${UNKNOWN_JOB}${token}`),
    invalidJobId: await outcomeOf(`/a%20b${token}`),
    // The path is checked before the key.
    invalidSpaceId: await outcomeOf(`/spaces/a%20b${token}`),
    longSpaceId: await outcomeOf(`/spaces/${'s'.repeat(129)}${token}`),
  }).toEqual({
    job,
    space,
    unknownJob,
    invalidJobId: unknownJob,
    invalidSpaceId: 'INVALID_REQUEST',
    longSpaceId: 'INVALID_REQUEST',
  });
});

it('a refused stream names the scope that its key lacks', async () => {
  const refusalOf = async (scope: string, path: string) =>
    (await sendHandshake(service.url, `/api/v1/realtime${path}${await withKey([scope])()}`)).body.error;
  expect(await refusalOf('jobs:create', `/${jobId}`)).toBe('Missing required scope: jobs:read:progress');
  expect(await refusalOf('jobs:read:progress', '/spaces/yard')).toBe('Missing required scope: jobs:read');
});

it('suggests the right name for a misspelled parameter of a stream', async () => {
  const { status, body } = await sendHandshake(service.url, `/api/v1/realtime/${jobId}?Token=x`);
  const error = 'unknown query parameter Token, did you mean token?';
  expect({ status, body }).toEqual({ status: 400, body: { error, code: 'INVALID_REQUEST' } });
});

it('opens the stream of a space with the parameters that clients of emit.run send', async () => {
  expect(await outcomeOf(`/spaces/yard?token=${ADMIN_KEY}&since=7&streamInstanceId=a`)).toBe('space');
});

it('reads a key or a stream token from the headers of the handshake, unless the query has one', async () => {
  const { key } = await service.key(['jobs:read']);
  const grant = { scope: 'jobs:read', spaceId: 'yard' };
  const { token } = (await service.call('POST', '/stream-tokens', { body: grant })).body;
  const statusOf = async (headers: Record<string, string>, query = '') =>
    (await sendHandshake(service.url, `/api/v1/realtime/spaces/yard${query}`, { headers })).status;
  for (const text of [key, token]) {
    expect(await statusOf({ 'x-api-key': text })).toBe(101);
    expect(await statusOf({ authorization: `Bearer ${text}` })).toBe(101);
  }
  expect(await statusOf({ 'x-api-key': 'wrong' }, `?token=${key}`)).toBe(101);
  expect(await statusOf({ 'x-api-key': key }, '?token=wrong')).toBe(401);
  for (const headers of [{ 'x-api-key': 'wrong' }, { 'x-api-key': '' }]) expect(await statusOf(headers)).toBe(401);
});

it.each([
  'nope',
  '%2e%2e',
  '__proto__',
  UNKNOWN_JOB.toUpperCase(),
  '%00',
  '*',
  'ff'.padEnd(28, 'a'),
  'x'.repeat(4_000),
])('refuses a stream with 404 for the unknown job %s', async (id) => {
  await expectRefusal(await sendHandshake(service.url, `/api/v1/realtime/${id}`), 404, 'JOB_NOT_FOUND');
});
