import { once } from 'node:events';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { until } from '../support/until.js';
import { withGateway } from './gateway.js';
import {
  connect,
  destroySockets,
  expectRefusal,
  type HandshakeOptions,
  sendHandshake,
  UNKNOWN_JOB,
} from './handshake.js';

const REALTIME = '/api/v1/realtime';

const service = withService();
const gateway = withGateway(service);
let jobId: string;
beforeAll(async () => {
  jobId = await jobIn(service, 'running', 'yard', { payload: { text: 'x'.repeat(200_000) } });
});
afterEach(destroySockets);

/** The servers of streams: the standalone, and a separate gateway on the same Redis. */
const SERVERS: [name: string, url: () => string][] = [
  ['the service on one port', () => service.url],
  ['the gateway', () => gateway.url],
];

/** Headers of a request that is not a handshake. */
const PLAIN = {
  connection: undefined,
  upgrade: undefined,
  'sec-websocket-version': undefined,
  'sec-websocket-key': undefined,
};
const H2C = { ...PLAIN, connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' };

interface Row extends HandshakeOptions {
  what: string;
  path?: () => string;
  status: number;
  code: string;
  /** Headers that the response must have. */
  responseHeaders?: Record<string, string>;
}
const ofSpace = () => `/spaces/yard?token=${ADMIN_KEY}`;
const noUpgrade = { status: 426, code: 'UPGRADE_REQUIRED', responseHeaders: { upgrade: 'websocket' } };
const noVersion = { status: 426, code: 'UPGRADE_REQUIRED', responseHeaders: { 'sec-websocket-version': '13' } };
const noMethod = { status: 405, code: 'METHOD_NOT_ALLOWED', responseHeaders: { allow: 'OPTIONS, GET, HEAD' } };
const notFound = { status: 404, code: 'NOT_FOUND' };
const invalid = { status: 400, code: 'INVALID_REQUEST' };

/** Requests that get a response like any other request. The connection may stay open. */
const ORDINARY: Row[] = [
  { what: 'a plain GET', headers: PLAIN, ...noUpgrade },
  { what: 'a plain GET for a space', path: ofSpace, headers: PLAIN, ...noUpgrade },
  { what: 'a plain GET for an unknown job', path: () => `/${UNKNOWN_JOB}`, headers: PLAIN, ...noUpgrade },
  { what: 'an upgrade to HTTP/2', headers: H2C, ...noUpgrade },
  { what: 'an upgrade to HTTP/2 for a space', path: ofSpace, headers: H2C, ...noUpgrade },
  { what: 'an upgrade that Connection does not name', headers: { connection: 'keep-alive' }, ...noUpgrade },
  { what: 'a POST', method: 'POST', headers: PLAIN, body: '{}', ...noMethod },
  { what: 'a POST with an upgrade', method: 'POST', ...noMethod },
  { what: 'a DELETE for a space', method: 'DELETE', path: ofSpace, headers: PLAIN, ...noMethod },
  { what: 'a plain GET without an id', path: () => '/', headers: PLAIN, ...notFound },
  { what: 'a plain GET with more than an id', path: () => '/a/b', headers: PLAIN, ...notFound },
  { what: 'a plain GET with broken percent-encoding', path: () => '/%zz', headers: PLAIN, ...invalid },
  { what: 'a plain GET for an invalid space id', path: () => '/spaces/a%20b', headers: PLAIN, ...invalid },
];

/** Handshakes that are refused in place of the upgrade. The connection ends. */
const REFUSED: Row[] = [
  { what: 'an old version of WebSocket', headers: { 'sec-websocket-version': '12' }, ...noVersion },
  { what: 'no version of WebSocket', headers: { 'sec-websocket-version': undefined }, ...noVersion },
  { what: 'no Sec-WebSocket-Key', headers: { 'sec-websocket-key': undefined }, ...invalid },
  { what: 'a short Sec-WebSocket-Key', headers: { 'sec-websocket-key': 'c2hvcnQ=' }, ...invalid },
  { what: 'a broken Sec-WebSocket-Protocol', headers: { 'sec-websocket-protocol': ',,' }, ...invalid },
  { what: 'no id', path: () => '/', ...notFound },
  { what: 'more than a job id', path: () => `/${jobId}/more`, ...notFound },
  { what: 'more than a space id', path: () => `/spaces/yard/more?token=${ADMIN_KEY}`, ...notFound },
  { what: 'a collection other than spaces', path: () => `/jobs/${jobId}`, ...notFound },
  { what: 'broken percent-encoding', path: () => '/%zz', ...invalid },
  { what: 'broken percent-encoding for a space', path: () => '/spaces/%e0%a4', ...invalid },
  { what: 'broken percent-encoding and no token', path: () => '/spaces/%zz', ...invalid },
];

describe.each(SERVERS)('%s', (_, url) => {
  const request = ({ path = () => `/${jobId}`, ...options }: Partial<Row> = {}) =>
    sendHandshake(url(), REALTIME + path(), options);

  it.each(ORDINARY)('responds to the stream request $what with $status $code', async (row) => {
    const { headers, ...response } = await request(row);
    expect(response.body).toEqual({ error: expect.stringMatching(/./), code: row.code });
    expect(response.status).toBe(row.status);
    expect(headers).toMatchObject({
      ...row.responseHeaders,
      'content-type': expect.stringMatching(/^application\/json(;|$)/),
    });
    expect(headers['x-request-id']).toMatch(/./);
  });

  it.each(REFUSED)('refuses a handshake with $what with $status $code', async (row) => {
    const response = await request(row);
    await expectRefusal(response, row.status, row.code);
    expect(response.headers).toMatchObject(row.responseHeaders ?? {});
  });

  it('responds to OPTIONS on a stream with the allowed methods, and to HEAD like a GET without a body', async () => {
    const options = await request({ method: 'OPTIONS', headers: PLAIN });
    expect(options).toMatchObject({ status: 204, headers: { allow: 'OPTIONS, GET, HEAD' }, body: null });
    const head = await request({ method: 'HEAD', headers: PLAIN });
    expect(head).toMatchObject({ status: 426, headers: { upgrade: 'websocket' } });
  });

  it('returns the request id of the client, even when it refuses the stream', async () => {
    for (const row of [{ path: () => `/${UNKNOWN_JOB}` }, { headers: PLAIN }, {}]) {
      const { headers } = await request({ ...row, headers: { ...row.headers, 'x-request-id': 'mine-1' } });
      expect(headers['x-request-id']).toBe('mine-1');
    }
    expect((await request()).headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([
    ['no Host', undefined],
    ['two Hosts', 'one\r\nhost: two'],
  ])('refuses a request for a stream with %s', async (_, host) => {
    for (const kind of [{}, PLAIN]) {
      const { status, body } = await request({ headers: { ...kind, host } });
      expect({ status, code: body?.code }).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    }
  });

  it.each([
    ['upgrade', 'WebSocket'],
    ['connection', 'keep-alive, upgrade'],
    ['origin', 'https://elsewhere.example'],
    ['sec-websocket-protocol', 'one, two'],
    ['authorization', 'Basic dTpw'], // A browser sends it on a site that asks for it.
  ])('accepts a handshake with %s: %s', async (name, value) => {
    expect((await request({ headers: { [name]: value } })).status).toBe(101);
  });

  it('accepts a handshake without the compression that the client offers', async () => {
    const headers = { 'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits' };
    const accepted = await request({ headers });
    expect(accepted.status).toBe(101);
    expect(accepted.headers).toMatchObject({ upgrade: 'websocket', connection: 'Upgrade' });
    // RFC 6455 §1.3 computes this for the key of its example.
    expect(accepted.headers['sec-websocket-accept']).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    expect(accepted.headers).not.toHaveProperty('sec-websocket-extensions');
  });

  it.each(['/api/v2/realtime/', '/api/v1/Realtime/', '/api/v1/realtime_/', '/api/v1/streams/', '/'])(
    'refuses a handshake below %s with 404',
    async (prefix) => {
      const { status, headers, body } = await sendHandshake(url(), prefix + jobId);
      expect({ status, body }).toEqual({ status: 404, body: { error: 'No such path', code: 'NOT_FOUND' } });
      expect(headers).not.toHaveProperty('sec-websocket-accept');
    },
  );

  it.each(['', '?token=x'])('refuses a handshake at /api/v1/realtime%s with 404', async (path) => {
    const { status, body } = await request({ path: () => path });
    expect({ status, body }).toEqual({ status: 404, body: { error: expect.any(String), code: 'NOT_FOUND' } });
  });

  it.each([
    ['HTTP/2', H2C],
    ['WebSocket', {}],
  ])('responds to an upgrade to %s on other paths as to a plain request', async (_, headers) => {
    expect(await sendHandshake(url(), '/livez', { headers })).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await sendHandshake(url(), '/nowhere', { headers })).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND' },
    });
  });
});

it.each([
  ['HTTP/2', H2C],
  ['WebSocket', {}],
])('serves API calls with an upgrade to %s as ordinary calls, with their bodies', async (_, upgrade) => {
  const headers = { ...upgrade, 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'work', payload: { text: 'ä'.repeat(50_000) } });
  const created = await sendHandshake(service.url, '/api/v1/spaces/upgrade/jobs', { method: 'POST', headers, body });
  expect(created.status).toBe(201);
  const job = await sendHandshake(service.url, `/api/v1/jobs/${created.body.id}`, { headers });
  expect(job).toMatchObject({ status: 200, body: { id: created.body.id } });
  expect((await service.call('GET', `/jobs/${created.body.id}`)).body.payload).toEqual(JSON.parse(body).payload);
});

describe('when requests share a connection with an upgrade', () => {
  const get = (path: string, headers = '', version = '1.1') =>
    `GET ${path} HTTP/${version}\r\nHost: test\r\n${headers}\r\n`;
  const job = () => get(`/api/v1/jobs/${jobId}`, `x-api-key: ${ADMIN_KEY}\r\n`);
  const upgrade = (query = '') =>
    get(
      `${REALTIME}/${jobId}${query}`,
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
    );

  /** Send some bytes, and return what is received until `isAll` returns true. */
  async function send(bytes: string, isAll: (text: string, isClosed: boolean) => boolean): Promise<string> {
    const socket = await connect(service.url);
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString('latin1')));
    socket.write(bytes);
    await until(() => isAll(text, socket.closed));
    return text;
  }
  const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);

  it('sends complete responses to the requests before an upgrade on the same connection', async () => {
    const text = await send(job() + job() + upgrade(), (all) => all.includes('"type":"init"'));
    expect(statuses(text)).toEqual(['200', '200', '101']);
    expect(text.lastIndexOf('"events":')).toBeLessThan(text.indexOf('HTTP/1.1 101'));
  });

  it('sends responses to the requests before a refused upgrade on the same connection', async () => {
    const text = await send(job() + upgrade('?token=wrong'), (_, isClosed) => isClosed);
    expect(statuses(text)).toEqual(['200', '401']);
  });

  it('ends the connection after a refused upgrade, even if the client keeps sending', async () => {
    const socket = await connect(service.url, { allowHalfOpen: true });
    socket.write(upgrade('?token=wrong'));
    await once(socket.resume(), 'end');
    const writing = setInterval(() => socket.write('x'), 10);
    socket.once('close', () => clearInterval(writing));
    await until(() => socket.closed);
  });

  it.each([
    ['Connection: close', 'Connection: close\r\n', '1.1'],
    ['HTTP/1.0', '', '1.0'],
    ['an upgrade in HTTP/1.0', 'Connection: Upgrade\r\nUpgrade: websocket\r\n', '1.0'],
  ])('ends the connection after a plain request for a stream with %s', async (_, headers, version) => {
    const text = await send(get(`${REALTIME}/${jobId}`, headers, version), (_all, isClosed) => isClosed);
    expect(statuses(text)).toEqual(['426']);
  });
});

it.each([
  ['type=ended', 'type must be one of created, progress'],
  ['type=killed&type=', 'type must be one of created, progress'],
  [`name=${'x'.repeat(129)}`, 'name must be 1 to 128 characters'],
  ['nam=crop', 'unknown query parameter nam, did you mean name?'],
  ['=1', 'unknown query parameter ""'],
  ['name=%C3', 'query must be valid percent-encoding'],
])('refuses a stream of a space with the query %s', async (query, error) => {
  const response = await sendHandshake(service.url, `${REALTIME}${ofSpace()}&${query}`);
  await expectRefusal(response, 400, 'INVALID_REQUEST');
  expect(response.body.error).toContain(error);
});

it('refuses filters on the stream of a single job', async () => {
  const response = await sendHandshake(service.url, `${REALTIME}/${jobId}?name=work`);
  await expectRefusal(response, 400, 'INVALID_REQUEST');
  expect(response.body.error).toBe('unknown query parameter name');
});
