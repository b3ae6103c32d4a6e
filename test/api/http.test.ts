import { once } from 'node:events';
import net from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROUTES } from '@yardmaster/api';
import { type Answer, HttpClient } from '../support/http.js';
import { createJob, jobIn } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

let service: TestService;
let jobId: string;
beforeAll(async () => {
  service = await startService();
  jobId = await jobIn(service, 'running', 'http');
});
afterAll(() => service.stop());

/** Methods of every path (§4, contract §5), written down again: the table of the product must not be its own judge. */
const PATHS: Record<string, string[]> = {
  '/api/v1/spaces/:spaceId/jobs': ['GET', 'HEAD', 'POST'],
  '/api/v1/spaces/:spaceId/jobs/poll': ['POST'],
  '/api/v1/spaces/:spaceId/stats': ['GET', 'HEAD'],
  '/api/v1/jobs/:jobId': ['GET', 'HEAD'],
  '/api/v1/jobs/:jobId/progress': ['GET', 'HEAD', 'POST'],
  '/api/v1/jobs/:jobId/logs': ['GET', 'HEAD', 'POST'],
  '/api/v1/jobs/:jobId/claim': ['POST'],
  '/api/v1/jobs/:jobId/ack': ['POST'],
  '/api/v1/jobs/:jobId/checkpoint': ['POST'],
  '/api/v1/jobs/:jobId/event': ['POST'],
  '/api/v1/jobs/:jobId/complete': ['POST'],
  '/api/v1/jobs/:jobId/fail': ['POST'],
  '/api/v1/jobs/:jobId/kill': ['POST'],
  '/api/v1/jobs/:jobId/keepalive': ['POST'],
  '/api/v1/jobs/:jobId/callback/redeliver': ['POST'],
  '/api/v1/keys': ['GET', 'HEAD', 'POST'],
  '/api/v1/keys/:keyId': ['DELETE'],
};
const OUTSIDE = { '/livez': ['GET', 'HEAD'], '/readyz': ['GET', 'HEAD'], '/metrics': ['GET', 'HEAD'] };
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'];

const JSON_TYPE = 'application/json; charset=utf-8';
const fill = (path: string) => path.replace(':jobId', jobId).replace(/:\w+/, 'http');
const allowOf = (answer: Answer) => (answer.headers.allow ?? '').split(', ').sort();
const call = (method: string, path: string, headers = {}) => service.http.call(method, fill(path), { headers });

describe('paths and methods', () => {
  it('are those of the routes', () => {
    expect([...new Set(ROUTES.map(({ path }) => path))].sort()).toEqual(Object.keys(PATHS).sort());
  });

  it.each([
    '/',
    '/api',
    '/api/v1',
    '/api/v2/keys',
    '/api/v1/nope',
    '/api/v1/jobs',
    '/api/v1/spaces/http',
    '/api/v1/jobs/x/nope',
    '/api/v1/jobs/x/ack/more',
    '/API/v1/keys',
    '/api/v1//keys',
    '/metrics.json',
    '/.env',
  ])('%s is 404 by any method, without a key', async (path) => {
    for (const method of METHODS) {
      const answer = await call(method, path);
      expect({ method, status: answer.status }).toEqual({ method, status: 404 });
      if (method !== 'HEAD') expect(answer.body).toEqual({ error: 'No such path', code: 'NOT_FOUND' });
    }
  });

  const wrong = (paths: Record<string, string[]>) =>
    Object.entries(paths).flatMap(([path, allowed]) =>
      METHODS.filter((method) => !allowed.includes(method)).map((method) => ({ method, path, allowed })),
    );
  const expect405 = async ({ method, path, allowed }: ReturnType<typeof wrong>[number]) => {
    const answer = await call(method, path);
    expect(answer.status).toBe(405);
    expect(allowOf(answer)).toEqual([...allowed, 'OPTIONS'].sort());
    if (method !== 'HEAD') expect(answer.body).toEqual({ error: expect.any(String), code: 'METHOD_NOT_ALLOWED' });
  };

  it.each(wrong(PATHS))('$method $path is 405 with Allow, without a key', expect405);
  it.each(wrong(OUTSIDE))('$method $path is 405 with Allow', expect405);

  const expectOptions = async ({ path, allowed }: { path: string; allowed: string[] }) => {
    const answer = await call('OPTIONS', path);
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 204, text: '' });
    expect(allowOf(answer)).toEqual([...allowed, 'OPTIONS'].sort());
  };
  const rows = (paths: Record<string, string[]>) => Object.entries(paths).map(([path, allowed]) => ({ path, allowed }));

  it.each(rows(PATHS))('OPTIONS $path is 204 with Allow, without a key', expectOptions);
  it.each(rows(OUTSIDE))('OPTIONS $path is 204 with Allow', expectOptions);

  it('OPTIONS of an unknown path is 404', async () => {
    expect((await call('OPTIONS', '/api/v1/nope')).status).toBe(404);
  });

  // Not /metrics, which is never the same twice: test/metrics.
  const readable = [...rows(PATHS), ...rows(OUTSIDE)].filter(
    ({ path, allowed }) => allowed.includes('GET') && path !== '/metrics',
  );
  it.each(readable)('HEAD $path is GET without the body', async ({ path }) => {
    const headers = { 'x-api-key': ADMIN_KEY, 'x-request-id': 'same' };
    const got = await call('GET', path, headers);
    const head = await call('HEAD', path, headers);
    expect(got.status).toBe(200);
    expect(head).toEqual({ ...got, headers: { ...got.headers, date: head.headers.date }, text: '', body: null });
  });

  it.each(['/api/v1/keys', '/api/v1/jobs/nope', '/api/v1/spaces/a%20b/jobs'])(
    'HEAD %s is refused like GET, without the body',
    async (path) => {
      const got = await call('GET', path);
      const head = await call('HEAD', path);
      expect(head).toMatchObject({ status: got.status, text: '' });
      expect(head.headers['content-length']).toBe(got.headers['content-length']);
    },
  );

  it('decodes what is encoded in a path', async () => {
    const { id } = await createJob(service, 'a:b.c');
    const { body } = await service.call('GET', '/spaces/a%3Ab%2Ec/jobs');
    expect(body).toMatchObject([{ id, spaceId: 'a:b.c' }]);
  });

  it.each([
    ['GET', '/api/v1/jobs/%'],
    ['GET', '/api/v1/jobs/%zz'],
    ['GET', '/api/v1/jobs/%ff'],
    ['HEAD', '/api/v1/jobs/%ff'],
    ['POST', '/api/v1/jobs/%c3%28/ack'],
    ['GET', '/api/v1/spaces/%E0%A4%A/jobs'],
    ['POST', '/api/v1/spaces/a%2/jobs/poll'],
    ['POST', '/api/v1/spaces/%ed%a0%80/jobs'],
    ['DELETE', '/api/v1/keys/%'],
    ['PUT', '/api/v1/keys/%'],
    ['OPTIONS', '/api/v1/keys/%'],
  ])('%s %s is 400 for its encoding', async (method, path) => {
    const answer = await call(method, path);
    expect(answer.status).toBe(400);
    if (method === 'HEAD') return;
    expect(answer.body).toEqual({ error: 'path must be valid percent-encoding', code: 'INVALID_REQUEST' });
  });
});

describe('headers of an answer', () => {
  const admin = { 'x-api-key': ADMIN_KEY };
  const text = { 'content-type': 'text/plain' };
  const answers: [status: number, ask: () => Promise<Answer>][] = [
    [200, () => call('GET', '/livez')],
    [200, () => service.call('GET', '/spaces/http/jobs')],
    [201, () => service.call('POST', '/spaces/http/jobs', { body: { name: 'work' } })],
    [400, () => service.call('POST', '/spaces/http/jobs', { raw: '{' })],
    [401, () => call('GET', '/api/v1/keys')],
    [403, async () => service.call('GET', '/keys', { key: (await service.key(['jobs:read'])).key })],
    [404, () => call('GET', '/nope')],
    [404, () => call('GET', '/api/v1/jobs/nope', admin)],
    [405, () => call('PUT', '/api/v1/keys')],
    [409, () => service.call('POST', `/jobs/${jobId}/ack`)],
    [413, () => service.call('POST', '/spaces/http/jobs', { raw: ' '.repeat(1_048_577) })],
    [415, () => service.call('POST', '/spaces/http/jobs', { raw: '{}', headers: text })],
  ];

  it.each(answers)('%i is JSON that is not to be cached or sniffed, and names no framework', async (status, ask) => {
    const answer = await ask();
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({
      'content-type': JSON_TYPE,
      'content-length': String(Buffer.byteLength(answer.text)),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.any(String),
    });
    for (const header of ['x-powered-by', 'server', 'etag', 'set-cookie'])
      expect(answer.headers[header]).toBeUndefined();
  });
});

describe('x-request-id', () => {
  const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
  const idOf = async (headers: Record<string, string | string[]>, path = '/livez') =>
    (await call('GET', path, headers)).headers['x-request-id'];

  it.each(['a', 'req-42', '!~{}[]"\\', 'x'.repeat(128), '0'])('%s is accepted and returned', async (id) => {
    expect(await idOf({ 'x-request-id': id })).toBe(id);
  });

  it.each([
    ['empty', ''],
    ['too long', 'x'.repeat(129)],
    ['two words', 'a b'],
    ['a tab', 'a\tb'],
    ['not ASCII', 'é'],
    ['given twice', ['a', 'b']],
  ])('one that is %s is replaced', async (_, id) => {
    expect(await idOf({ 'x-request-id': id })).toMatch(UUID);
  });

  it('is made when there is none, another for each request', async () => {
    const ids = await Promise.all(Array.from({ length: 50 }, () => idOf({})));
    for (const id of ids) expect(id).toMatch(UUID);
    expect(new Set(ids).size).toBe(50);
  });

  it.each(['/api/v1/keys', '/nope', '/api/v1/jobs/%zz', '/api/v1/spaces/a%20b/jobs'])(
    'is returned with the refusal of %s',
    async (path) => {
      expect(await idOf({ 'x-request-id': 'mine' }, path)).toBe('mine');
    },
  );

  it('is returned with OPTIONS', async () => {
    const { headers } = await call('OPTIONS', '/api/v1/keys', { 'x-request-id': 'mine' });
    expect(headers['x-request-id']).toBe('mine');
  });
});

describe('CORS', () => {
  const page = 'https://app.example.com';
  const preflight = (origin: string) => ({
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'x-api-key,content-type',
  });
  const corsHeaders = (answer: Answer) =>
    Object.keys(answer.headers).filter((header) => header.startsWith('access-control-'));

  it('is off by default, for calls and for preflights', async () => {
    expect(corsHeaders(await call('GET', '/api/v1/keys', { origin: page }))).toEqual([]);
    const asked = await call('OPTIONS', '/api/v1/keys', preflight(page));
    expect({ status: asked.status, cors: corsHeaders(asked) }).toEqual({ status: 204, cors: [] });
  });

  describe('with CORS_ORIGINS', () => {
    let open: TestService;
    beforeAll(async () => {
      open = await startService({ CORS_ORIGINS: `${page}, http://localhost:3000` });
    });
    afterAll(() => open.stop());
    const ask = (method: string, headers: Record<string, string>, path = '/api/v1/keys') =>
      open.http.call(method, path, { headers });

    it.each([page, 'http://localhost:3000'])('answers the preflight of %s', async (origin) => {
      const { status, headers } = await ask('OPTIONS', preflight(origin));
      expect(status).toBe(204);
      expect(headers['access-control-allow-origin']).toBe(origin);
      expect(headers['access-control-allow-methods']?.split(',')).toEqual(
        expect.arrayContaining(['GET', 'POST', 'DELETE']),
      );
      expect(headers['access-control-allow-headers']?.split(',')).toEqual(['x-api-key', 'content-type']);
      expect(headers['access-control-allow-credentials']).toBeUndefined();
      expect(headers.vary).toMatch(/\bOrigin\b/);
    });

    it.each([
      ['a call', { 'x-api-key': ADMIN_KEY }, 200],
      ['a refusal', {}, 401],
    ])('lets the page read the answer of %s', async (_, headers, status) => {
      const answer = await ask('GET', { ...headers, origin: page });
      expect(answer.status).toBe(status);
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': page,
        'access-control-expose-headers': expect.stringContaining('x-request-id'),
        vary: expect.stringMatching(/\bOrigin\b/),
      });
    });

    it.each([
      'https://evil.example.com',
      `${page}.evil.com`,
      'http://app.example.com',
      'null',
      'https://APP.example.com:8443',
    ])('allows nothing to %s', async (origin) => {
      for (const answer of [await ask('GET', { origin }), await ask('OPTIONS', preflight(origin))]) {
        expect(answer.headers['access-control-allow-origin']).toBeUndefined();
        expect(answer.headers.vary).toMatch(/\bOrigin\b/);
      }
    });

    it('still answers a plain OPTIONS with Allow', async () => {
      const answer = await ask('OPTIONS', {});
      expect(answer.status).toBe(204);
      expect(allowOf(answer)).toEqual(['GET', 'HEAD', 'OPTIONS', 'POST']);
    });

    it('still answers OPTIONS of an unknown path with 404', async () => {
      expect((await ask('OPTIONS', {}, '/nope')).status).toBe(404);
    });
  });

  it('is open to every origin with *', async () => {
    const open = await startService({ CORS_ORIGINS: '*' });
    try {
      const { headers } = await open.http.call('GET', '/livez', { headers: { origin: 'https://any.example.com' } });
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-allow-credentials']).toBeUndefined();
    } finally {
      await open.stop();
    }
  });
});

interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** A socket on which a test writes what no HTTP client would. */
class RawClient {
  readonly socket: net.Socket;
  #received = '';

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = net.connect(Number(port), hostname);
    this.socket.setEncoding('latin1').on('data', (text: string) => {
      this.#received += text;
    });
    this.socket.on('error', () => undefined); // A reset is a way to end, too.
  }

  /** Answers that arrived so far, in order. Ours always say their length. */
  get answers(): RawAnswer[] {
    const answers: RawAnswer[] = [];
    for (let rest = this.#received; rest.includes('\r\n\r\n'); ) {
      const end = rest.indexOf('\r\n\r\n');
      const [statusLine = '', ...lines] = rest.slice(0, end).split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
      );
      const length = Number(headers['content-length'] ?? 0);
      if (rest.length < end + 4 + length) break;
      answers.push({ status: Number(statusLine.split(' ')[1]), headers, text: rest.slice(end + 4, end + 4 + length) });
      rest = rest.slice(end + 4 + length);
    }
    return answers.filter(({ status }) => status !== 100);
  }

  async answered(count: number): Promise<RawAnswer[]> {
    await until(() => this.answers.length >= count || this.socket.closed);
    return this.answers;
  }

  async closed(): Promise<RawAnswer[]> {
    await until(() => this.socket.closed);
    return this.answers;
  }
}

/** Give a test a raw socket that is gone when the test is over. */
async function withRaw<T>(use: (raw: RawClient) => Promise<T>, url = service.url): Promise<T> {
  const raw = new RawClient(url);
  try {
    return await use(raw);
  } finally {
    raw.socket.destroy();
    if (!raw.socket.closed) await once(raw.socket, 'close');
  }
}

const HOST = 'Host: localhost\r\n';
const headOfCreate = (spaceId: string) =>
  `POST /api/v1/spaces/${spaceId}/jobs HTTP/1.1\r\n${HOST}x-api-key: ${ADMIN_KEY}\r\ncontent-type: application/json\r\n`;
const HEAD_OF_CREATE = headOfCreate('raw');
const NOT_HTTP = '{"error":"request must be valid HTTP/1.1","code":"INVALID_REQUEST"}';

describe('what is not HTTP', () => {
  const malformed: [what: string, bytes: string][] = [
    ['garbage', 'garbage\r\n\r\n'],
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a version that is not there yet', `GET /livez HTTP/9.9\r\n${HOST}\r\n`],
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
    ['a length and chunks', `${HEAD_OF_CREATE}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['chunks that are no chunks', `${HEAD_OF_CREATE}Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n`],
    ['a chunk longer than it says', `${HEAD_OF_CREATE}Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n`],
    ['an unknown transfer encoding', `${HEAD_OF_CREATE}Transfer-Encoding: gzip\r\n\r\n{}`],
  ];
  const expectNotHttp = ({ status, headers, text }: RawAnswer) => {
    expect({ status, type: headers['content-type'], text }).toEqual({ status: 400, type: JSON_TYPE, text: NOT_HTTP });
  };

  it.each(malformed)('%s is 400 as JSON, and the connection closes', async (_, bytes) => {
    const answers = await withRaw((raw) => {
      raw.socket.write(bytes, 'latin1');
      return raw.closed();
    });
    expect(answers).toHaveLength(1);
    expectNotHttp(answers[0] as RawAnswer);
  });

  it('a body that ends before its length is 400 as JSON', async () => {
    const [answer] = await withRaw((raw) => {
      raw.socket.end(`${HEAD_OF_CREATE}Content-Length: 100\r\n\r\n{"name":`);
      return raw.closed();
    });
    expectNotHttp(answer as RawAnswer);
  });

  it.each([
    ['headers', `GET /livez HTTP/1.1\r\n${HOST}x: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['a path', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`],
  ])('%s over 16 KB are 431 as JSON', async (_, bytes) => {
    const [answer] = await withRaw((raw) => {
      raw.socket.write(bytes);
      return raw.closed();
    });
    expect(answer?.status).toBe(431);
    expect(answer?.headers['content-type']).toBe(JSON_TYPE);
    expect(JSON.parse(answer?.text ?? '')).toEqual({
      error: 'headers must be at most 16 KB',
      code: 'INVALID_REQUEST',
    });
  });

  const bare: [what: string, bytes: string, status: number][] = [
    ['no host', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['a URL that is none', `GET http://[ HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`, 404],
    ['two hosts', `GET /livez HTTP/1.1\r\n${HOST}Host: example.com\r\nConnection: close\r\n\r\n`, 400],
  ];
  it.each(bare)('%s is refused as JSON', async (_, bytes, status) => {
    const [answer] = await withRaw((raw) => {
      raw.socket.write(bytes);
      return raw.closed();
    });
    expect(answer).toMatchObject({ status, headers: { 'content-type': JSON_TYPE } });
    expect(JSON.parse(answer?.text ?? '')).toEqual({
      error: expect.any(String),
      code: status === 404 ? 'NOT_FOUND' : 'INVALID_REQUEST',
    });
  });

  it.each([
    ['to upgrade', `GET /livez HTTP/1.1\r\n${HOST}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n`],
    ['with an unknown expectation', `GET /livez HTTP/1.1\r\n${HOST}Expect: wonders\r\n\r\n`],
    ['for an absolute URL', `GET http://localhost/livez HTTP/1.1\r\n${HOST}\r\n`],
    ['after an empty line', `\r\nGET /livez HTTP/1.1\r\n${HOST}\r\n`],
  ])('a request %s is served like any other', async (_, bytes) => {
    const answers = await withRaw((raw) => {
      raw.socket.write(bytes);
      return raw.answered(1);
    });
    expect(answers).toMatchObject([{ status: 200, text: '{"status":"ok"}' }]);
  });

  it('a client of HTTP/1.0 is served, and the connection closes', async () => {
    const answers = await withRaw((raw) => {
      raw.socket.write('GET /livez HTTP/1.0\r\n\r\n');
      return raw.closed();
    });
    expect(answers).toMatchObject([{ status: 200, text: '{"status":"ok"}' }]);
  });

  it('stores nothing and leaves the service working', async () => {
    expect((await service.call('GET', '/spaces/raw/jobs')).body).toEqual([]);
    expect((await call('GET', '/readyz')).status).toBe(200);
  });
});

describe('several requests on one connection', () => {
  const admin = `${HOST}x-api-key: ${ADMIN_KEY}\r\n`;
  /** Some that are answered at once, some that go to Redis, some with a body, some refused. */
  const mixed: ((id: number) => string)[] = [
    (id) => `GET /api/v1/jobs/${jobId} HTTP/1.1\r\n${admin}x-request-id: ${id}\r\n\r\n`,
    (id) => `GET /livez HTTP/1.1\r\n${admin}x-request-id: ${id}\r\n\r\n`,
    (id) =>
      `POST /api/v1/jobs/${jobId}/event HTTP/1.1\r\n${admin}content-type: application/json\r\ncontent-length: 3\r\nx-request-id: ${id}\r\n\r\n"a"`,
    (id) => `GET /nope HTTP/1.1\r\n${HOST}x-request-id: ${id}\r\n\r\n`,
    (id) =>
      `POST /api/v1/jobs/${jobId}/keepalive HTTP/1.1\r\n${admin}content-length: 4\r\nx-request-id: ${id}\r\n\r\njunk`,
    (id) =>
      `POST /api/v1/spaces/http/jobs/poll HTTP/1.1\r\n${admin}content-length: 5\r\nx-request-id: ${id}\r\n\r\n{"a":`,
    (id) => `OPTIONS /api/v1/keys HTTP/1.1\r\n${HOST}x-request-id: ${id}\r\n\r\n`,
  ];
  const statuses = [200, 200, 200, 404, 200, 415, 204];

  it('are answered in the order they were sent in', async () => {
    const ids = Array.from({ length: 70 }, (_, i) => i);
    const answers = await withRaw((raw) => {
      raw.socket.write(ids.map((id) => (mixed[id % mixed.length] as (typeof mixed)[number])(id)).join(''));
      return raw.answered(ids.length);
    });
    expect(answers.map(({ headers }) => Number(headers['x-request-id']))).toEqual(ids);
    expect(answers.map(({ status }) => status)).toEqual(ids.map((id) => statuses[id % statuses.length]));
  });

  it('are answered when they arrive byte by byte', async () => {
    const bytes = `${mixed[2]?.(1)}${mixed[0]?.(2)}`;
    const answers = await withRaw(async (raw) => {
      raw.socket.setNoDelay(true);
      for (const byte of bytes) await new Promise<void>((sent) => raw.socket.write(byte, () => sent()));
      return raw.answered(2);
    });
    expect(answers.map(({ status, headers }) => [status, headers['x-request-id']])).toEqual([
      [200, '1'],
      [200, '2'],
    ]);
  });

  it('are answered in order also when the last is not HTTP', async () => {
    const body = '{"name":"work"}';
    const answers = await withRaw((raw) => {
      raw.socket.write(`${headOfCreate('pipelined')}Content-Length: ${body.length}\r\n\r\n${body}garbage\r\n\r\n`);
      return raw.closed();
    });
    expect(answers.map(({ status }) => status)).toEqual([201, 400]);
  });
});

describe('a body over the limit', () => {
  const MB = 1_048_576;
  const LIMIT = { error: 'body must be at most 1048576 bytes', code: 'TOO_LARGE' };

  it.each([
    ['a length', {}],
    ['chunks', { 'content-length': undefined, 'transfer-encoding': 'chunked' }],
  ])('in %s is refused so that a client that is still sending can read it, and can go on', async (_, headers) => {
    const client = new HttpClient(service.url, 1);
    try {
      for (const size of [2 * MB, 8 * MB, 15 * MB]) {
        const path = '/api/v1/spaces/http/jobs';
        const answer = await client.call('POST', path, { key: ADMIN_KEY, raw: Buffer.alloc(size, 32), headers });
        expect({ status: answer.status, body: answer.body }).toEqual({ status: 413, body: LIMIT });
        expect((await client.call('GET', '/livez')).status).toBe(200);
      }
    } finally {
      client.close();
    }
  });

  it.each([
    ['is refused', HEAD_OF_CREATE, 413],
    ['is of no use', `GET /livez HTTP/1.1\r\n${HOST}`, 200],
    ['goes with OPTIONS', `OPTIONS /livez HTTP/1.1\r\n${HOST}`, 204],
  ])(
    'that %s is taken without a reset from a client that asks for the end of the connection',
    async (_, head, status) => {
      await withRaw(async (raw) => {
        raw.socket.write(`${head}Connection: close\r\nContent-Length: ${2 * MB}\r\n\r\n`);
        await raw.answered(1);
        const taken = new Promise<unknown>((resolve) => raw.socket.write(Buffer.alloc(2 * MB, 32), resolve));
        expect(await taken).toBeFalsy();
        expect(await raw.closed()).toMatchObject([{ status }]);
      });
    },
  );

  it('is refused by its length alone, before it is sent', async () => {
    const answers = await withRaw((raw) => {
      raw.socket.write(`${HEAD_OF_CREATE}Content-Length: ${1_000 * MB}\r\n\r\n`);
      return raw.answered(1);
    });
    expect(answers).toMatchObject([{ status: 413, text: JSON.stringify(LIMIT) }]);
  });

  const CHUNK = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(0x10000, 32), Buffer.from('\r\n')]);

  /** Write chunk after chunk as the server takes them, until it hangs up or has taken `bytes`. */
  async function pour(socket: net.Socket, bytes: number): Promise<void> {
    for (let sent = 0; sent < bytes && !socket.destroyed; sent += CHUNK.length) {
      await new Promise<void>((taken) => socket.write(CHUNK, () => taken()));
    }
  }

  it('that never ends is cut off', async () => {
    const answers = await withRaw(async (raw) => {
      raw.socket.write(`${HEAD_OF_CREATE}Transfer-Encoding: chunked\r\n\r\n`);
      await pour(raw.socket, 64 * MB);
      return raw.closed();
    });
    expect(answers).toMatchObject([{ status: 413, text: JSON.stringify(LIMIT) }]);
  });

  it.each([
    ['a key', `POST /api/v1/spaces/http/jobs HTTP/1.1\r\n${HOST}`],
    ['a path', `POST /nope HTTP/1.1\r\n${HOST}`],
    ['the right type', `${HEAD_OF_CREATE.replace('application/json', 'text/plain')}`],
    ['a body to have', `GET /livez HTTP/1.1\r\n${HOST}`],
  ])('that never ends is cut off also without %s', async (_, head) => {
    await withRaw(async (raw) => {
      raw.socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
      await pour(raw.socket, 64 * MB);
      expect(await raw.answered(1)).toHaveLength(1);
      expect(raw.socket.destroyed).toBe(true);
    });
  });

  it('is not kept in memory while the rest of it arrives', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const held = () => {
      collect();
      return process.memoryUsage().arrayBuffers;
    };
    const before = held();
    const raws = Array.from({ length: 8 }, () => new RawClient(service.url));
    try {
      await Promise.all(
        raws.map(async (raw) => {
          raw.socket.write(`${HEAD_OF_CREATE}Transfer-Encoding: chunked\r\n\r\n`);
          await pour(raw.socket, 12 * MB);
          expect(await raw.answered(1)).toMatchObject([{ status: 413 }]);
          await until(() => raw.socket.writableLength === 0);
        }),
      );
      // 96 MB arrived and all eight connections are open.
      expect(raws.every(({ socket }) => !socket.closed)).toBe(true);
      // Freed memory is given back a little later; what is held on to never is.
      await until(() => held() - before < 16 * MB);
    } finally {
      for (const { socket } of raws) socket.destroy();
    }
  });
});
