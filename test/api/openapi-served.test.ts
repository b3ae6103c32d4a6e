import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { startService, type TestService } from '../support/service.js';

const PATH = '/api/v1/openapi.json';

let service: TestService;
let api: TestService;
beforeAll(async () => {
  service = await startService();
  api = await startService({}, { app: createApi });
});
afterAll(() => Promise.all([service.stop(), api.stop()]));

it('is served to anybody, as JSON that may be kept for a while', async () => {
  const { status, headers, body } = await service.http.call('GET', PATH);
  expect({ status, openapi: body.openapi }).toEqual({ status: 200, openapi: '3.1.0' });
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'public, max-age=300',
    'x-request-id': expect.any(String),
  });
});

it('is the same from the API alone', async () => {
  const texts = await Promise.all([service, api].map(async ({ http }) => (await http.call('GET', PATH)).text));
  expect(texts[0]).toBe(texts[1]);
});

it('is not sent again to whoever has it', async () => {
  const { etag } = (await service.http.call('GET', PATH)).headers;
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const { status, text, headers } = await service.http.call('GET', PATH, { headers: { 'if-none-match': known } });
    expect({ status, text, etag: headers.etag }).toEqual({ status: 304, text: '', etag });
  }
  const other = await service.http.call('GET', PATH, { headers: { 'if-none-match': '"other"' } });
  expect(other.status).toBe(200);
});

it('answers HEAD, OPTIONS and other methods as other paths do', async () => {
  const [get, head, options, post] = await Promise.all(
    ['GET', 'HEAD', 'OPTIONS', 'POST'].map((method) => service.http.call(method, PATH)),
  );
  expect({ status: head?.status, text: head?.text, length: head?.headers['content-length'] }).toEqual({
    status: 200,
    text: '',
    length: get?.headers['content-length'],
  });
  expect({ status: options?.status, allow: options?.headers.allow }).toEqual({
    status: 204,
    allow: 'OPTIONS, GET, HEAD',
  });
  expect({ status: post?.status, allow: post?.headers.allow, code: post?.body.code }).toEqual({
    status: 405,
    allow: 'OPTIONS, GET, HEAD',
    code: 'METHOD_NOT_ALLOWED',
  });
});
