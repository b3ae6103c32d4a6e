import { describe, expect, it } from '@jest/globals';
import type { HttpResponse } from '../support/http.js';
import { jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';

// Settings of operators. All other tests use the default limits.

const PAGE = 'https://app.example.com';
const service = withService();
const set = withService(
  {
    CORS_ORIGINS: `${PAGE}, http://localhost:3000`,
    MAX_BODY_BYTES: '54321',
    MAX_PAYLOAD_BYTES: '2048',
    MAX_EVENT_BYTES: '1024',
    MAX_LOG_ENTRIES: '77',
    EVENTS_PER_JOB: '10',
    DELIVERY_TIMEOUT_SECONDS: '12',
  },
  { app: 'api' },
);

it('refuses a body above the configured limit and names the limit', async () => {
  const id = await jobIn(set, 'running', 'small');
  const text = (bytes: number) => 'a'.repeat(bytes);
  const ofJson = (part: string, limit: number) => `${part} must be at most ${limit} bytes of JSON`;
  const refused: [path: string, body: unknown, error: string][] = [
    ['/spaces/small/jobs', { name: 'work', payload: { a: text(2_041) } }, ofJson('payload', 2_048)],
    [`/jobs/${id}/complete`, { result: text(2_047) }, ofJson('result', 2_048)],
    [`/jobs/${id}/event`, text(1_023), ofJson('body', 1_024)],
    [`/jobs/${id}/event`, text(54_320), 'body must be at most 54321 bytes'],
  ];
  for (const [path, sent, error] of refused) {
    const { status, body } = await set.call('POST', path, { body: sent });
    expect({ status, body }).toEqual({ status: 413, body: { error, code: 'TOO_LARGE' } });
  }
});

it('keeps the configured number of events of a job: the newest, and always `created`', async () => {
  const id = await jobIn(set, 'running', 'short');
  for (let n = 0; n < 20; n++) await set.call('POST', `/jobs/${id}/event`, { body: n });
  const events: { id: string; type: string }[] = (await set.call('GET', `/jobs/${id}`)).body.events;
  expect(events.map((event) => event.id)).toEqual([1, 15, 16, 17, 18, 19, 20, 21, 22, 23].map((seq) => `${id}.${seq}`));
  expect(events[0]).toMatchObject({ type: 'created' });
});

it('shows the configured limits in the OpenAPI document, which is otherwise the same in every process', async () => {
  const [usual, own] = [await service.call('GET', '/openapi.json'), await set.call('GET', '/openapi.json')];
  const { paths, info } = own.body;
  expect(paths['/api/v1/spaces/{spaceId}/jobs'].post.requestBody.description).toContain('54321 bytes');
  expect(paths['/api/v1/jobs/{jobId}/logs'].post.requestBody.description).toContain('77 entries');
  expect(info.description).toContain('| 12 seconds |');
  // Compared in parts, so that a failure shows only what differs.
  const withoutNumbers = ({ text }: HttpResponse) => text.replace(/\d+/g, '#').split(',');
  expect(withoutNumbers(own)).toEqual(withoutNumbers(usual));
});

describe('CORS', () => {
  const REQUESTED = ['x-api-key', 'authorization', 'content-type', 'idempotency-key', 'prefer', 'x-delivery-token'];
  const preflight = (origin: string) => ({
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': REQUESTED.join(','),
  });
  const ask = (method: string, headers: Record<string, string>, path = '/api/v1/keys', at = set) =>
    at.http.call(method, path, { headers });

  it('sends no CORS headers by default, neither for calls nor for preflights', async () => {
    const call = await ask('GET', { origin: PAGE }, '/api/v1/keys', service);
    const asked = await ask('OPTIONS', preflight(PAGE), '/api/v1/keys', service);
    for (const { headers } of [call, asked])
      expect(Object.keys(headers).filter((header) => /^(access-control|vary)/.test(header))).toEqual([]);
  });

  it.each([PAGE, 'http://localhost:3000'])('responds to a CORS preflight of %s', async (origin) => {
    const { status, headers } = await ask('OPTIONS', preflight(origin));
    expect(status).toBe(204);
    expect(headers).toMatchObject({ 'access-control-allow-origin': origin, vary: expect.stringMatching(/\bOrigin\b/) });
    const methods = headers['access-control-allow-methods']?.split(',');
    expect(methods).toEqual(expect.arrayContaining(['GET', 'POST', 'DELETE']));
    expect(headers['access-control-allow-headers']?.split(',')).toEqual(REQUESTED);
    expect(headers['access-control-allow-credentials']).toBeUndefined();
  });

  it.each([
    ['a call', 'GET', '/api/v1/keys', { 'x-api-key': ADMIN_KEY }, 200],
    ['a refusal', 'GET', '/api/v1/keys', {}, 401],
    ['a call of a worker', 'POST', '/api/v1/spaces/a/jobs/poll', { 'x-api-key': ADMIN_KEY }, 200],
    ['the refusal of a worker', 'POST', '/api/v1/spaces/a/jobs/poll', {}, 401],
  ])('CORS lets the allowed page, and no other, read the response to %s', async (_, method, path, headers, status) => {
    const own = await ask(method, { ...headers, origin: PAGE }, path);
    expect(own.status).toBe(status);
    expect(own.headers).toMatchObject({
      'access-control-allow-origin': PAGE,
      'access-control-expose-headers':
        'x-request-id,retry-after,ratelimit,ratelimit-policy,x-ignored-fields,preference-applied,idempotent-replayed,x-next-cursor,link',
      vary: expect.stringMatching(/\bOrigin\b/),
    });
    const other = await ask(method, { ...headers, origin: 'https://evil.example.com' }, path);
    expect(other).toMatchObject({ status, headers: { vary: expect.stringMatching(/\bOrigin\b/) } });
    expect(other.headers['access-control-allow-origin']).toBeUndefined();
  });

  it.each([`${PAGE}.evil.com`, 'http://app.example.com', 'null', 'https://APP.example.com:8443'])(
    'CORS allows nothing to the origin %s',
    async (origin) => {
      for (const response of [await ask('GET', { origin }), await ask('OPTIONS', preflight(origin))]) {
        expect(response.headers['access-control-allow-origin']).toBeUndefined();
        expect(response.headers.vary).toMatch(/\bOrigin\b/);
      }
    },
  );

  it('responds to OPTIONS without an Origin header as if CORS were disabled', async () => {
    const { status, headers } = await ask('OPTIONS', {});
    expect({ status, allow: headers.allow }).toEqual({ status: 204, allow: 'OPTIONS, POST, GET, HEAD' });
    expect((await ask('OPTIONS', {}, '/nope')).status).toBe(404);
  });
});
