import { beforeAll, describe, expect, it } from '@jest/globals';
import { HttpClient } from '../support/http.js';
import { jobIn } from '../support/jobs.js';
import { pour, type RawClient, type RawResponse, sendRaw, withRaw } from '../support/raw-client.js';
import { startService, withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { until } from '../support/until.js';

const service = withService();
let jobId: string;
beforeAll(async () => {
  jobId = await jobIn(service, 'running', 'http');
});

const JSON_TYPE = 'application/json; charset=utf-8';
const HOST = 'Host: localhost\r\n';
const headOfCreate = (spaceId: string) =>
  `POST /api/v1/spaces/${spaceId}/jobs HTTP/1.1\r\n${HOST}x-api-key: ${ADMIN_KEY}\r\ncontent-type: application/json\r\n`;
const HEAD_OF_CREATE = headOfCreate('raw');
const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n';
const MB = 1_048_576;

it('keeps an idle connection open for KEEP_ALIVE_SECONDS, and tells the client', async () => {
  const other = await startService({ KEEP_ALIVE_SECONDS: '620' }, { app: 'api' });
  try {
    const keepAlive = async (url: string) => (await fetch(`${url}/livez`)).headers.get('keep-alive');
    expect([await keepAlive(service.url), await keepAlive(other.url)]).toEqual(['timeout=75', 'timeout=620']);
  } finally {
    await other.stop();
  }
});

describe('requests that are not HTTP', () => {
  const NOT_HTTP = { error: 'request must be valid HTTP/1.1', code: 'INVALID_REQUEST' };
  const expectResponse = (responses: RawResponse[], status: number, body: unknown) =>
    expect(
      responses.map((response) => [response.status, response.headers['content-type'], JSON.parse(response.text)]),
    ).toEqual([[status, JSON_TYPE, body]]);

  const MALFORMED: [what: string, bytes: string][] = [
    ['garbage', 'garbage\r\n\r\n'],
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a version that does not exist yet', `GET /livez HTTP/9.9\r\n${HOST}\r\n`],
    ['an unknown method', `NOPE /livez HTTP/1.1\r\n${HOST}\r\n`],
    ['a method in small letters', `get /livez HTTP/1.1\r\n${HOST}\r\n`],
    ['a path that is not ASCII', `GET /\xff HTTP/1.1\r\n${HOST}\r\n`],
    ['a header without a colon', `GET /livez HTTP/1.1\r\n${HOST}broken\r\n\r\n`],
    ['a header name with a space', `GET /livez HTTP/1.1\r\n${HOST}x y: a\r\n\r\n`],
    ['a NUL in a header', `GET /livez HTTP/1.1\r\n${HOST}x: a\0b\r\n\r\n`],
    ['line feeds alone', 'GET /livez HTTP/1.1\nHost: localhost\n\n'],
    ['two lengths', `${HEAD_OF_CREATE}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`],
    ['a negative length', `${HEAD_OF_CREATE}Content-Length: -5\r\n\r\nhello`],
    ['a length that is no number', `${HEAD_OF_CREATE}Content-Length: 0x5\r\n\r\nhello`],
    ['a length and chunks', `${HEAD_OF_CREATE}Content-Length: 5\r\n${CHUNKED}0\r\n\r\n`],
    ['chunks that are not chunks', `${HEAD_OF_CREATE}${CHUNKED}zz\r\nabc\r\n`],
    ['a chunk longer than it says', `${HEAD_OF_CREATE}${CHUNKED}2\r\nabc\r\n`],
    ['an unknown transfer encoding', `${HEAD_OF_CREATE}Transfer-Encoding: gzip\r\n\r\n{}`],
    ['an unknown transfer encoding after chunked', `${HEAD_OF_CREATE}Transfer-Encoding: chunked, gzip\r\n\r\n{}`],
  ];
  it.each(MALFORMED)('responds to invalid HTTP with 400 as JSON and closes the connection: %s', async (_, bytes) => {
    expectResponse(await sendRaw(service.url, bytes), 400, NOT_HTTP);
  });

  it('refuses a transfer coding before chunked', async () => {
    const responses = await sendRaw(
      service.url,
      `${HEAD_OF_CREATE}Connection: close\r\nTransfer-Encoding: gzip, chunked\r\n\r\nc\r\n{"name":"a"}\r\n0\r\n\r\n`,
    );
    expectResponse(responses, 400, { error: 'Transfer-Encoding must be chunked', code: 'INVALID_REQUEST' });
  });

  it('responds with 400 as JSON to a body that ends before its declared length', async () => {
    const responses = await withRaw(service.url, (raw) => {
      raw.socket.end(`${HEAD_OF_CREATE}Content-Length: 100\r\n\r\n{"name":`);
      return raw.closed();
    });
    expectResponse(responses, 400, NOT_HTTP);
  });

  const TOO_LONG = { error: 'headers must be at most 16 KB', code: 'INVALID_REQUEST' };
  const NO_PATH = { error: 'No such path', code: 'NOT_FOUND' };
  it.each([
    ['headers over 16 KB', `GET /livez HTTP/1.1\r\n${HOST}x: ${'a'.repeat(20_000)}`, 431, TOO_LONG],
    ['a path over 16 KB', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: localhost`, 431, TOO_LONG],
    ['an invalid URL', `GET http://[ HTTP/1.1\r\n${HOST}Connection: close`, 404, NO_PATH],
  ])('refuses %s with a response in JSON', async (_, head, status, body) => {
    expectResponse(await sendRaw(service.url, `${head}\r\n\r\n`), status, body);
  });

  it('stores nothing after invalid HTTP and keeps serving', async () => {
    expect((await service.call('GET', '/spaces/raw/jobs')).body).toEqual([]);
    expect((await service.http.call('GET', '/readyz')).status).toBe(200);
  });
});

it.each([
  ['to upgrade', `GET /livez HTTP/1.1\r\n${HOST}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n`],
  ['with an unknown expectation', `GET /livez HTTP/1.1\r\n${HOST}Expect: wonders\r\n\r\n`],
  ['for an absolute URL', `GET http://localhost/livez HTTP/1.1\r\n${HOST}\r\n`],
  ['after an empty line', `\r\nGET /livez HTTP/1.1\r\n${HOST}\r\n`],
  ['in HTTP/1.0', 'GET /livez HTTP/1.0\r\n\r\n'],
])('serves a request %s like any other', async (_, bytes) => {
  const responses = await withRaw(service.url, (raw) => {
    raw.socket.write(bytes);
    return bytes.includes('HTTP/1.0') ? raw.closed() : raw.receive(1);
  });
  expect(responses).toMatchObject([{ status: 200, text: '{"status":"ok"}\n' }]);
});

describe('several requests on one connection', () => {
  /** Requests with an immediate response, requests that go to Redis, requests with a body, and refused requests. */
  const MIXED: [status: number, call: string, body?: string, headers?: string][] = [
    [200, 'GET /api/v1/jobs/JOB'],
    [200, 'GET /livez'],
    [200, 'POST /api/v1/jobs/JOB/event', '"a"', 'content-type: application/json\r\n'],
    [404, 'GET /nope'],
    [200, 'POST /api/v1/jobs/JOB/keepalive', 'junk'],
    [415, 'POST /api/v1/jobs/JOB/complete', '{"a":'],
    [204, 'OPTIONS /api/v1/keys'],
  ];
  const nth = (id: number) => MIXED[id % MIXED.length] as (typeof MIXED)[number];
  const textOf = (id: number) => {
    const [, call, body = '', headers = ''] = nth(id);
    const own = `${HOST}x-api-key: ${ADMIN_KEY}\r\nx-request-id: ${id}\r\n${headers}`;
    return `${call.replace('JOB', jobId)} HTTP/1.1\r\n${own}content-length: ${body.length}\r\n\r\n${body}`;
  };
  const seen = (responses: RawResponse[]) =>
    responses.map(({ status, headers }) => [Number(headers['x-request-id']), status]);

  it('responds to pipelined requests in the order in which they were sent', async () => {
    const ids = Array.from({ length: 60 }, (_, i) => i);
    const responses = await withRaw(service.url, (raw) => {
      raw.socket.write(ids.map(textOf).join(''));
      return raw.receive(ids.length);
    });
    expect(seen(responses)).toEqual(ids.map((id) => [id, nth(id)[0]]));
  });

  it('responds to requests that arrive byte by byte', async () => {
    const bytes = textOf(2) + textOf(7);
    const responses = await withRaw(service.url, async (raw) => {
      raw.socket.setNoDelay(true);
      for (const byte of bytes) await new Promise<void>((sent) => raw.socket.write(byte, () => sent()));
      return raw.receive(2);
    });
    expect(seen(responses)).toEqual([
      [2, 200],
      [7, 200],
    ]);
  });

  it.each(['info', 'openapi.json', 'streams.schema.json', 'spaces/http/jobs'])(
    'responds to many pipelined requests for %s',
    async (name) => {
      await withRaw(service.url, async (client) => {
        client.socket.write(`GET /api/v1/${name} HTTP/1.1\r\n${HOST}x-api-key: ${ADMIN_KEY}\r\n\r\n`.repeat(40));
        const statuses = (await client.receive(40)).map(({ status }) => status);
        expect(statuses).toEqual(Array(40).fill(200));
      });
    },
  );

  it('responds to pipelined requests in order when the last one is not HTTP', async () => {
    const body = '{"name":"work"}';
    const request = `${headOfCreate('pipelined')}Content-Length: ${body.length}\r\n\r\n${body}`;
    const responses = await sendRaw(service.url, `${request}garbage\r\n\r\n`);
    expect(responses.map(({ status }) => status)).toEqual([201, 400]);
  });
});

describe('bodies over the limit', () => {
  /** The body could be a list when its length is all that is known of it. */
  const LIMIT = /^body must be at most 1048576 bytes(, or 5242880 bytes for a list)?$/;

  it.each([
    ['a length', {}],
    ['chunks', { 'content-length': undefined, 'transfer-encoding': 'chunked' }],
  ])(
    'refuses a large body with %s so that a sending client gets the response and can send its next request',
    async (_, headers) => {
      const client = new HttpClient(service.url, 1);
      for (const size of [2 * MB, 15 * MB]) {
        const body = { key: ADMIN_KEY, raw: Buffer.alloc(size, 32), headers };
        const refused = await client.call('POST', '/api/v1/spaces/http/jobs', body);
        expect(refused).toMatchObject({ status: 413, body: { code: 'TOO_LARGE' } });
        expect(refused.body.error).toMatch(LIMIT);
        expect((await client.call('GET', '/livez')).status).toBe(200);
      }
      client.close();
    },
  );

  it.each([
    ['is refused', HEAD_OF_CREATE, 413],
    ['belongs to a GET', `GET /livez HTTP/1.1\r\n${HOST}`, 200],
    ['goes with OPTIONS', `OPTIONS /livez HTTP/1.1\r\n${HOST}`, 204],
  ])(
    'reads a body that %s to the end, without a reset, when the client wants the connection closed',
    async (_, head, status) => {
      await withRaw(service.url, async (raw) => {
        raw.socket.write(`${head}Connection: close\r\nContent-Length: ${6 * MB}\r\n\r\n`);
        await raw.receive(1);
        const failure = await new Promise((taken) => raw.socket.write(Buffer.alloc(6 * MB, 32), taken));
        expect(failure).toBeFalsy();
        expect(await raw.closed()).toMatchObject([{ status }]);
      });
    },
  );

  it('refuses a body by its declared length alone, before it is sent', async () => {
    const responses = await withRaw(service.url, (raw) => {
      raw.socket.write(`${HEAD_OF_CREATE}Content-Length: ${1_000 * MB}\r\n\r\n`);
      return raw.receive(1);
    });
    const error = 'body must be at most 1048576 bytes, or 5242880 bytes for a list';
    expect(responses).toMatchObject([{ status: 413, text: `${JSON.stringify({ error, code: 'TOO_LARGE' })}\n` }]);
  });

  it.each([
    ['key', `POST /api/v1/spaces/http/jobs HTTP/1.1\r\n${HOST}`, 12, 401],
    ['path', `POST /api/v1/nope HTTP/1.1\r\n${HOST}`, 12, 404],
    ['length', HEAD_OF_CREATE, 1_000 * MB, 413],
  ])(
    'refuses a client that expects 100 Continue before it sends a body, for its %s',
    async (_, head, length, status) => {
      await withRaw(service.url, async (raw) => {
        raw.socket.write(`${head}Expect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`);
        const [response] = await raw.receive(1);
        expect([response?.status, response?.headers.connection, raw.received.continues]).toEqual([status, 'close', 0]);
      });
    },
  );

  it('says 100 Continue once a create is allowed, and keeps the connection', async () => {
    await withRaw(service.url, async (raw) => {
      raw.socket.write(`${HEAD_OF_CREATE}Expect: 100-continue\r\nContent-Length: 12\r\n\r\n`);
      await until(() => raw.received.continues === 1);
      raw.socket.write(`{"name":"a"}GET /livez HTTP/1.1\r\n${HOST}\r\n`);
      expect((await raw.receive(2)).map(({ status }) => status)).toEqual([201, 200]);
    });
  });

  it.each([
    ['whole', HEAD_OF_CREATE, 413],
    ['without a key', `POST /api/v1/spaces/http/jobs HTTP/1.1\r\n${HOST}`, 401],
    ['without a path', `POST /nope HTTP/1.1\r\n${HOST}`, 404],
    ['without the right type', HEAD_OF_CREATE.replace('application/json', 'text/plain'), 413],
    ['of a GET, which needs no body', `GET /livez HTTP/1.1\r\n${HOST}`, 200],
  ])('cuts off a body that never ends: %s', async (_, head, status) => {
    const attempt = (raw: RawClient) => {
      raw.socket.write(`${head}${CHUNKED}`);
      return pour(raw.socket, 64 * MB).then(async (sent) => ({ sent, responses: await raw.closed() }));
    };
    let seen: Awaited<ReturnType<typeof attempt>> = { sent: 0, responses: [] };
    // The reset that ends the connection may arrive before the response; then the test tries again.
    await until(async () => {
      seen = await withRaw(service.url, attempt);
      return seen.sent >= 64 * MB || seen.responses.length > 0;
    });
    expect(seen.sent).toBeLessThan(64 * MB);
    expect(seen.responses).toMatchObject([{ status }]);
  });
});
