import { gzipSync } from 'node:zlib';
import { expect, it } from '@jest/globals';
import type { CallOptions } from '../support/http.js';
import { createJob } from '../support/jobs.js';
import { withService } from '../support/service.js';

const service = withService();

const SPACE = 'refused';
const create = (options: CallOptions, space = SPACE) => service.call('POST', `/spaces/${space}/jobs`, options);
const stored = async (space = SPACE) => (await service.call('GET', `/spaces/${space}/stats`)).body.jobs.total;
const WORK = { name: 'work' };

const invalid = (error: string) => ({ status: 400, body: { error, code: 'INVALID_REQUEST' } });
const wrong = (...details: { path: string; message: string }[]) => {
  const [first] = details;
  return { status: 400, body: { error: first?.message, code: 'INVALID_REQUEST', details } };
};
const tooLarge = (error: string) => ({ status: 413, body: { error, code: 'TOO_LARGE' } });

const NOT_AN_OBJECT = { path: '[1]', message: '[1] must be an object' };
const NO_NAME = { path: '[1].name', message: '[1].name is required' };
const REJECT = {
  path: '[1].unique.onConflict',
  message: '[1].unique.onConflict must be return or replace in a list of jobs',
};
const NEGATIVE = {
  path: '[2].retry.delaySeconds[0]',
  message: '[2].retry.delaySeconds[0] must be a number between 0 and 604800',
};

it.each([
  ['an empty list', '[]', invalid('body must have at least one job')],
  ['1 001 jobs', JSON.stringify(Array(1_001).fill(WORK)), invalid('body must have at most 1000 jobs')],
  ['1,001 items that are not jobs', `[${'0,'.repeat(1_000)}0]`, invalid('body must have at most 1000 jobs')],
  ['an open bracket', '[', invalid('body must be valid JSON')],
  ['a list without an end', '[{"name":"work"}', invalid('body must be valid JSON')],
  ['a wrong bracket', '[{"name":"work"}}', invalid('body must be valid JSON')],
  ['two lists', '[{"name":"work"}][{"name":"work"}]', invalid('body must be valid JSON')],
  ['a comma at the end', '[{"name":"work"},]', invalid('body must be valid JSON')],
  ['an item that is not JSON', '[{"name":"work"},{name}]', invalid('[1] must be valid JSON')],
  ['a job and null', '[{"name":"work"},null]', wrong(NOT_AN_OBJECT)],
  ['a list in a list', '[{"name":"work"},[{"name":"work"}]]', wrong(NOT_AN_OBJECT)],
  ['a job without a name', JSON.stringify([WORK, {}]), wrong(NO_NAME)],
  ['two wrong jobs', JSON.stringify([WORK, {}, { ...WORK, retry: { delaySeconds: [-1] } }]), wrong(NO_NAME, NEGATIVE)],
  [
    'a unique key with reject',
    JSON.stringify([WORK, { ...WORK, unique: { key: 'k', onConflict: 'reject' } }]),
    wrong(REJECT),
  ],
])('refuses %s as a list of jobs, and stores nothing', async (_, raw, refusal) => {
  expect(await create({ raw })).toMatchObject(refusal);
  expect(await create({ raw, headers: { 'idempotency-key': 'k' } })).toMatchObject(refusal);
  expect(await stored()).toBe(0);
});

it('reports at most 20 faults of a list', async () => {
  const { body } = await create({ body: [WORK, ...Array(999).fill({})] });
  expect(body.details).toEqual(
    Array.from({ length: 20 }, (_, n) => ({ path: `[${n + 1}].name`, message: `[${n + 1}].name is required` })),
  );
});

it('reports at most 20 unknown fields of the jobs of a list', async () => {
  const list = [WORK, { ...WORK, later: 1, retry: { delaySeconds: 1, delay: 2 }, payload: { any: 1 } }];
  const { status, headers } = await create({ body: list }, 'unknown');
  expect([status, headers['x-ignored-fields']]).toEqual([201, '[1].later, [1].retry.delay']);
  const many = await create({ body: Array(30).fill({ ...WORK, later: 1 }) }, 'unknown');
  expect(many.headers['x-ignored-fields']?.toString().split(', ')).toHaveLength(20);
});

it('refuses unknown fields of a list with Prefer: handling=strict, and stores nothing', async () => {
  const headers = { prefer: 'handling=strict' };
  const path = '[1].delaySecond';
  const details = [{ path, message: `unknown field ${path}, did you mean delaySeconds?` }];
  const { status, body } = await create({ body: [WORK, { ...WORK, delaySecond: 1 }], headers });
  expect([status, body.error, body.code]).toEqual([400, details[0]?.message, 'INVALID_REQUEST']);
  expect(await stored()).toBe(0);
  const accepted = await create({ body: [WORK], headers }, 'strict');
  expect([accepted.status, accepted.headers['preference-applied']]).toEqual([201, 'handling=strict']);
});

const gzip = { 'content-encoding': 'gzip' };
const chunked = { 'content-length': undefined, 'transfer-encoding': 'chunked' };
/** Create a list of jobs with this many bytes, whose payloads are within their limit. */
function listOf(bytes: number): string {
  const one = JSON.stringify({ name: 'work', payload: { a: 'a'.repeat(100_000) } });
  const jobs = Array(Math.floor(bytes / (one.length + 1)) - 1).fill(one);
  const text = `[${jobs.join()}]`;
  return text + ' '.repeat(bytes - text.length);
}

it.each([
  ['as it is', listOf(5_242_880), {}],
  ['chunked', listOf(5_242_880), chunked],
  ['compressed', gzipSync(listOf(5_242_880)), gzip],
])('accepts a list of 5 MB %s', async (_, raw, headers) => {
  const { status, body } = await create({ raw, headers }, 'large');
  expect([status, body.length]).toEqual([201, 51]);
});

it('accepts a compressed list that is larger on the wire than other bodies may be', async () => {
  const raw = gzipSync(listOf(3_000_000), { level: 0 });
  expect(raw.length).toBeGreaterThan(1_048_576);
  const { status, body } = await create({ raw, headers: gzip }, 'large');
  expect([status, body.length]).toEqual([201, 28]);
});

const object = (bytes: number) => JSON.stringify({ name: 'work', later: 'a'.repeat(bytes - 26) });
const OVER = 5_242_881;
const LIST_OVER = 'body must be at most 5242880 bytes';
const BODY_OVER = 'body must be at most 1048576 bytes';

it.each([
  ['a list of more than 5 MB', listOf(OVER), {}, `${BODY_OVER}, or 5242880 bytes for a list`],
  ['a chunked list of more than 5 MB', listOf(OVER), chunked, LIST_OVER],
  ['a list that inflates to more than 5 MB', gzipSync(listOf(OVER)), gzip, `${LIST_OVER} decompressed`],
  ['an object of more than 1 MB', object(1_048_577), {}, BODY_OVER],
  ['a chunked object of more than 1 MB', object(1_048_577), chunked, BODY_OVER],
  ['an object that inflates to more than 1 MB', gzipSync(object(1_048_577)), gzip, `${BODY_OVER} decompressed`],
  ['an object that inflates to more than 5 MB', gzipSync(object(OVER)), gzip, `${BODY_OVER} decompressed`],
  ['a compressed object of more than 1 MB', gzipSync(object(2_000_000), { level: 0 }), gzip, BODY_OVER],
  ['more than 1 MB of blanks', `${' '.repeat(1_048_577)}[]`, {}, BODY_OVER],
  [
    'a job of more than 1 MB in a list',
    JSON.stringify([WORK, { name: 'work', later: 'a'.repeat(1_048_577) }]),
    {},
    '[1] must be at most 1048576 bytes',
  ],
  [
    'a payload over its limit in a list',
    JSON.stringify([WORK, { name: 'work', payload: { a: 'a'.repeat(262_144) } }]),
    {},
    '[1].payload must be at most 262144 bytes of JSON',
  ],
])('refuses %s, and names the exceeded limit', async (_, raw, headers, error) => {
  expect(await create({ raw, headers })).toMatchObject(tooLarge(error));
  expect(await stored()).toBe(0);
});

it('requires a key with jobs:create that is valid for the space to create a list', async () => {
  const { key: reader } = await service.key(['jobs:read']);
  const { key: elsewhere } = await service.key(['jobs:create'], { spaceId: 'elsewhere' });
  for (const key of [reader, elsewhere]) expect((await create({ body: [WORK], key })).status).toBe(403);
  expect((await create({ body: [WORK], key: elsewhere }, 'elsewhere')).status).toBe(201);
  expect(await stored()).toBe(0);
});

it('shows a caller without jobs:read only the public fields of an existing job', async () => {
  const { key } = await service.key(['jobs:create']);
  const unique = { key: 'k' };
  const job = await createJob(service, 'known', { unique, payload: { secret: 1 } });
  const { body } = await create({ body: [{ ...WORK, unique }], key }, 'known');
  expect(body).toEqual([{ id: job.id, spaceId: 'known', name: 'work', status: 'pending', createdAt: job.createdAt }]);
});
