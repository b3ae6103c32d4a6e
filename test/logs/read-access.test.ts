import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { SCOPES } from '@yardmaster/protocol';
import { createJob } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { append } from './reading.js';

const UNKNOWN_JOBS = ['nope', '00aaaaaaaaaaaaaaaaaaaaaaaaaa', '__proto__'];

let service: TestService;
/** A job of the space `own` with one entry. */
let jobId: string;

beforeAll(async () => {
  service = await startService({}, { app: createApi });
  jobId = (await createJob(service, 'own')).id;
  await append(service, jobId, ['said']);
});
afterAll(() => service.stop());

async function answerTo(key: string | undefined, path = `/jobs/${jobId}/logs`) {
  const { status, body } = await service.call('GET', path, { key });
  return { status, body };
}

const SHOWN = {
  status: 200,
  body: {
    logs: [expect.objectContaining({ message: 'said' })],
    cursor: { mode: 'latest', oldestSeq: 1, newestSeq: 1, hasMore: false },
  },
};

it.each(['jobs:read', 'jobs:worker'] as const)('a key with %s reads logs, in its space or in any', async (scope) => {
  for (const fields of [{}, { spaceId: 'own' }])
    expect(await answerTo((await service.key([scope], fields)).key)).toEqual(SHOWN);
});

it.each(SCOPES.filter((scope) => scope !== 'jobs:read' && scope !== 'jobs:worker'))(
  'a key with %s alone is refused, and told what it lacks',
  async (scope) => {
    const { status, body } = await answerTo((await service.key([scope])).key);
    expect(status).toBe(403);
    expect(body).toEqual({ error: expect.stringMatching(/\bjobs:read\b/), code: 'FORBIDDEN' });
  },
);

it('a key of another space is refused as it is by Get Job', async () => {
  const { key } = await service.key(['jobs:read'], { spaceId: 'other' });
  const refused = await answerTo(key, `/jobs/${jobId}`);
  expect(await answerTo(key)).toEqual(refused);
  expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
});

it.each(UNKNOWN_JOBS)('finds no logs of the unknown job %s, whoever asks', async (id) => {
  const bound = (await service.key(['jobs:read'], { spaceId: 'own' })).key;
  const missing = { status: 404, body: { error: 'Job not found', code: 'JOB_NOT_FOUND' } };
  const paths = ['', '?after=0', '?before=9', '?q=x', '?level=warn'].map((query) => `/jobs/${id}/logs${query}`);
  for (const path of paths)
    for (const key of [bound, (await service.key(['jobs:worker'])).key])
      expect(await answerTo(key, path)).toEqual(missing);
});

it.each([undefined, '', 'garbage'])('the key %j is 401', async (key) => {
  expect(await answerTo(key)).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED' } });
});

it('looks at the key, then its scope, then the query, then the job', async () => {
  const scopeless = (await service.key(['jobs:poll'])).key;
  const elsewhere = (await service.key(['jobs:read'], { spaceId: 'other' })).key;
  const wrong = '?limit=0';
  const statuses = [
    await answerTo('garbage', `/jobs/nope/logs${wrong}`),
    await answerTo(scopeless, `/jobs/nope/logs${wrong}`),
    await answerTo(elsewhere, `/jobs/nope/logs${wrong}`),
    await answerTo(elsewhere, `/jobs/${jobId}/logs${wrong}`),
    await answerTo(elsewhere, '/jobs/nope/logs'),
    await answerTo(elsewhere),
  ].map(({ status }) => status);
  expect(statuses).toEqual([401, 403, 400, 400, 404, 403]);
});

it('tells which methods there are', async () => {
  const allow = 'OPTIONS, GET, HEAD, POST';
  for (const [method, status] of [
    ['OPTIONS', 204],
    ['PUT', 405],
    ['DELETE', 405],
  ] as const) {
    const answer = await service.call(method, `/jobs/${jobId}/logs`);
    expect({ status: answer.status, allow: methodsOf(answer.headers.allow) }).toEqual({
      status,
      allow: methodsOf(allow),
    });
  }
});

const methodsOf = (allow = '') => allow.split(', ').sort();

describe('HEAD', () => {
  it('answers as GET does, without the body', async () => {
    const path = `/jobs/${jobId}/logs?limit=1`;
    const get = await service.call('GET', path);
    const head = await service.call('HEAD', path);
    expect({ status: head.status, text: head.text }).toEqual({ status: 200, text: '' });
    for (const name of ['content-type', 'content-length']) expect(head.headers[name]).toBe(get.headers[name]);
  });

  it.each([
    { query: 'limit=0', key: ADMIN_KEY, status: 400 },
    { query: '', key: 'none', status: 401 },
  ])('answers $status as GET does', async ({ query, key, status }) => {
    const head = await service.call('HEAD', `/jobs/${jobId}/logs?${query}`, { key });
    expect({ status: head.status, text: head.text }).toEqual({ status, text: '' });
  });
});
