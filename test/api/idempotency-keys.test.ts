import { createHmac } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { partitionOf } from '@yardmaster/store';
import { jobIn, step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

const BODY = {
  name: 'work',
  payload: { n: 1, of: { a: [1, { b: 2, c: 3 }] } },
  unique: { key: 'x', until: 'started' },
};

// The header `Idempotency-Key` of Create Job.

const service = withService();
let spaces = 0;
const newSpace = () => `idempotent-${++spaces}`;
const create = (space: string, key: string | string[] | undefined, body: unknown = BODY, apiKey?: string) =>
  service.call('POST', `/spaces/${space}/jobs`, {
    body,
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
    ...(apiKey !== undefined && { key: apiKey }),
  });
const created = async (space: string, key?: string, body?: unknown) => {
  const { status, headers, body: job } = await create(space, key, body);
  expect([status, headers['idempotent-replayed']]).toEqual([201, undefined]);
  return job;
};
const idsIn = async (space: string) =>
  (await service.call('GET', `/spaces/${space}/jobs`)).body.map(({ id }: { id: string }) => id);

it('returns the current job for a repeated create, without result, error and progress', async () => {
  const space = newSpace();
  const first = await created(space, 'key 1');
  const again = await create(space, 'key 1');
  expect([again.status, again.headers['idempotent-replayed'], again.body]).toEqual([201, 'true', first]);
  for (const verb of ['claim', 'ack']) await step(service, first.id, verb);
  await step(service, first.id, 'progress', { percent: 1, message: 'on' });
  await step(service, first.id, 'complete', { result: 'secret' });
  const { events, error, progress, ...now } = (await service.call('GET', `/jobs/${first.id}`)).body;
  const { status, headers, body } = await create(space, 'key 1');
  expect([status, headers['idempotent-replayed'], body]).toEqual([201, 'true', { ...now, result: null }]);
  expect(await idsIn(space)).toEqual([first.id]);
});

it.each([
  [
    'another order of fields',
    { unique: { until: 'started', key: 'x' }, payload: { of: { a: [1, { c: 3, b: 2 }] }, n: 1 }, name: 'work' },
  ],
  [
    'a default written out',
    {
      ...BODY,
      maxRetries: 3,
      timeoutSeconds: 300,
      callbackUrl: null,
      unique: { ...BODY.unique, onConflict: 'return' },
    },
  ],
  ['an unknown field', { ...BODY, later: true }],
])('accepts %s in the body of a repeated create', async (_, body) => {
  const space = newSpace();
  const { id } = await created(space, 'k');
  const again = await create(space, 'k', body);
  expect([again.status, again.headers['idempotent-replayed'], again.body.id]).toEqual([201, 'true', id]);
});

it.each([
  ['name', { ...BODY, name: 'other' }],
  ['payload', { ...BODY, payload: { ...BODY.payload, n: 2 } }],
  ['order of an array', { ...BODY, payload: { n: 1, of: { a: [{ b: 2, c: 3 }, 1] } } }],
  ['maxRetries', { ...BODY, maxRetries: 2 }],
  ['timeoutSeconds', { ...BODY, timeoutSeconds: 301 }],
  ['callbackUrl', { ...BODY, callbackUrl: 'https://example.com/' }],
  ['callbackHeaders', { ...BODY, callbackHeaders: { a: 'b' } }],
  ['unique', { ...BODY, unique: { ...BODY.unique, until: 'ended' } }],
])('refuses a different %s with a used idempotency key', async (_, body) => {
  const space = newSpace();
  const first = await created(space, 'k');
  const { status, body: refusal } = await create(space, 'k', body);
  expect([status, refusal]).toEqual([
    422,
    { error: 'Idempotency-Key was already used with a different body', code: 'IDEMPOTENCY_MISMATCH' },
  ]);
  expect((await create(space, 'k')).body).toEqual(first);
});

it('creates another job once the job of the idempotency key is purged', async () => {
  const space = newSpace();
  const { id } = await created(space, 'k');
  await step(service, id, 'kill', {});
  expect((await create(space, 'k')).body).toMatchObject({ id, status: 'killed' });
  await service.redis.zadd(service.store.keys.deadlines(partitionOf(space)), 1, id);
  await until(async () => (await service.call('GET', `/jobs/${id}`)).status === 404);
  expect(await created(space, 'k')).toMatchObject({ id, status: 'pending' });
  expect((await service.call('GET', `/jobs/${id}`)).body.events).toHaveLength(1);
});

it('derives the job id from the secret of the installation, the space and the idempotency key', async () => {
  const space = newSpace();
  const { id } = await created(space, 'a key');
  const secret = Buffer.from((await service.redis.hget(service.store.keys.meta, 'idempotencySecret')) as string, 'hex');
  expect(secret).toHaveLength(32);
  const bits = [...createHmac('sha256', secret).update(`${space}\0a key\0${0}`).digest()]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  const characters = (bits.match(/.{5}/g) ?? []).map(
    (five) => 'abcdefghijklmnopqrstuvwxyz234567'[Number.parseInt(five, 2)],
  );
  expect(id).toBe(partitionOf(space) + characters.slice(0, 26).join(''));
});

it('compares idempotency keys within a space, whichever API key sends them', async () => {
  const [space, other] = [newSpace(), newSpace()];
  const { id } = await created(space, 'k');
  expect((await created(other, 'k')).id.slice(2)).not.toBe(id.slice(2));
  expect((await created(space, 'K', { name: 'work' })).id).not.toBe(id);
  const { key } = await service.key(['jobs:create'], { spaceId: space });
  const { status, headers, body } = await create(space, 'k', BODY, key);
  expect([status, headers['idempotent-replayed'], body.id, body.payload]).toEqual([201, 'true', id, BODY.payload]);
});

it.each([
  ['empty', ''],
  ['of 256 characters', 'k'.repeat(256)],
  ['with a tab', 'a\tb'],
  ['not ASCII', 'clé'],
])('refuses an idempotency key that is %s', async (_, key) => {
  const { status, body } = await create(newSpace(), key);
  const error = 'idempotency-key must be 1 to 255 printable ASCII characters';
  expect([status, body]).toEqual([400, { error, code: 'INVALID_REQUEST' }]);
});

it('refuses a repeated idempotency key header, and accepts a key of 255 characters and one with a comma', async () => {
  const space = newSpace();
  const { status, body } = await create(space, ['a', 'a']);
  const error = 'idempotency-key must appear at most once';
  expect([status, body]).toEqual([400, { error, code: 'INVALID_REQUEST' }]);
  await created(space, '~'.repeat(255), { name: 'work' });
  await created(space, 'a, a', { name: 'work' });
});

it('creates one job for an idempotency key that producers send concurrently', async () => {
  const space = newSpace();
  const responses = await Promise.all(Array.from({ length: 24 }, () => create(space, 'k')));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
  expect(responses.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
  expect(await idsIn(space)).toEqual([responses[0]?.body.id]);
});

it.each(['return', 'replace'])('does not store an idempotency key if its create fails with %s', async (onConflict) => {
  const space = newSpace();
  const other = await jobIn(service, 'pending', space, { unique: { key: 'x', until: 'started' } });
  const body = { ...BODY, unique: { ...BODY.unique, onConflict } };
  for (let n = 0; n < 2; n++) {
    const { status, headers, body: job } = await create(space, 'k', body);
    expect([status, headers['idempotent-replayed'], job.id]).toEqual([200, undefined, other]);
  }
  await step(service, other, 'kill', {});
  expect((await created(space, 'k', body)).id).not.toBe(other);
});

it('checks the idempotency key before the unique key', async () => {
  const space = newSpace();
  const body = { ...BODY, unique: { key: 'x', onConflict: 'reject' } };
  const { id } = await created(space, 'k', body);
  expect((await create(space, 'k', body)).body.id).toBe(id);
  expect((await create(space, 'k', { ...body, payload: {} })).status).toBe(422);
  expect((await create(space, 'other', body)).status).toBe(409);
});

it('shows the original request when a create is repeated after another create has replaced its job', async () => {
  const space = newSpace();
  const first = await created(space, 'k');
  await create(space, undefined, { ...BODY, payload: { n: 2 }, unique: { key: 'x', onConflict: 'replace' } });
  const { status, headers, body } = await create(space, 'k');
  expect([status, headers['idempotent-replayed'], body]).toMatchObject([
    201,
    'true',
    { id: first.id, payload: BODY.payload },
  ]);
});
