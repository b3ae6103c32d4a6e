import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer, CallOptions } from '../support/http.js';
import { createJob } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { appendOk, gzipped, logsKey, written } from './entries.js';

// Contract §2: path, key, scope, body, and then the job.

let service: TestService;
/** A job of another space than `bound` is bound to. */
let jobId: string;
let key: Record<'all' | 'unscoped' | 'bound', string>;
beforeAll(async () => {
  service = await startService();
  jobId = (await createJob(service, 'order')).id;
  key = {
    all: (await service.key(['jobs:event'])).key,
    unscoped: (await service.key(['jobs:read', 'jobs:progress', 'jobs:create'])).key,
    bound: (await service.key(['jobs:event'], { spaceId: 'elsewhere' })).key,
  };
});
afterAll(() => service.stop());

const UNKNOWN = 'aa00000000000000000000000000';
const WRONG_KEY = 'ym_aaaaaaaaaaaaaaaa_0000000000000000000000000000000000000000000000000000000000000000';

/** Bodies from the one that is refused first to the good one. */
const BODIES: Record<string, CallOptions> = {
  'too large': { raw: 'x'.repeat(1_048_577) },
  'of a wrong type': { raw: '["a"]', headers: { 'content-type': 'text/plain' } },
  'that is no JSON': { raw: '[' },
  'with a wrong entry': { raw: '[5]' },
  'of nothing': {},
  'that is good': { raw: '["a"]' },
  'that is good, gzipped': gzipped(written('NDJSON', ['a'])),
};
const everyBody = Object.entries(BODIES);
const badBodies = everyBody.filter(([name]) => !name.includes('good'));
const goodBodies = everyBody.filter(([name]) => name.includes('good'));

const send = (path: string, batch: CallOptions, apiKey?: string) =>
  service.call('POST', path, { ...batch, key: apiKey as string });
const outcome = ({ status, body }: Answer) => ({ status, code: body.code, error: body.error });

const NOT_FOUND = { status: 404, code: 'NOT_FOUND', error: 'No such path' };
const UNAUTHENTICATED = { status: 401, code: 'UNAUTHENTICATED', error: 'A valid API key is required' };
const UNSCOPED = { status: 403, code: 'FORBIDDEN', error: expect.stringContaining('jobs:event') };
const FORBIDDEN = { status: 403, code: 'FORBIDDEN', error: 'The API key is bound to another space' };
const NO_JOB = { status: 404, code: 'JOB_NOT_FOUND', error: 'Job not found' };

describe('the first thing that is wrong is what a batch is refused for:', () => {
  it.each(everyBody)('the path, with a body %s', async (_, batch) => {
    for (const apiKey of [undefined, WRONG_KEY, key.all])
      expect(outcome(await send(`/jobs/${jobId}/logs/more`, batch, apiKey))).toEqual(NOT_FOUND);
  });

  it.each(everyBody)('the key, with a body %s', async (_, batch) => {
    for (const id of [jobId, UNKNOWN, 'nope'])
      for (const apiKey of [undefined, '', WRONG_KEY])
        expect(outcome(await send(`/jobs/${id}/logs`, batch, apiKey))).toEqual(UNAUTHENTICATED);
  });

  it.each(everyBody)('the scope, with a body %s', async (_, batch) => {
    for (const id of [jobId, UNKNOWN, 'nope'])
      expect(outcome(await send(`/jobs/${id}/logs`, batch, key.unscoped))).toEqual(UNSCOPED);
  });

  it.each(badBodies)('the body, being one %s', async (_, batch) => {
    const expected = outcome(await send(`/jobs/${jobId}/logs`, batch, key.all));
    expect([400, 413, 415]).toContain(expected.status);
    for (const id of [jobId, UNKNOWN, 'nope'])
      for (const apiKey of [key.all, key.bound])
        expect(outcome(await send(`/jobs/${id}/logs`, batch, apiKey))).toEqual(expected);
  });

  it.each(goodBodies)('the job, with a body %s', async (_, batch) => {
    for (const id of [UNKNOWN, 'nope', `${jobId}x`, jobId.toUpperCase()])
      for (const apiKey of [key.all, key.bound])
        expect(outcome(await send(`/jobs/${id}/logs`, batch, apiKey))).toEqual(NO_JOB);
    expect(outcome(await send(`/jobs/${jobId}/logs`, batch, key.bound))).toEqual(FORBIDDEN);
  });
});

it('none of it has stored anything', async () => {
  for (const id of [jobId, UNKNOWN]) expect(await service.redis.exists(logsKey(service, id))).toBe(0);
  await appendOk(service, jobId, ['first']);
});
