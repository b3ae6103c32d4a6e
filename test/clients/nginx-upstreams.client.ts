import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import net from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { freePort } from '../support/free-port.js';
import { HttpClient } from '../support/http.js';
import { type Nginx, startNginx } from '../support/nginx.js';
import { until } from '../support/until.js';

// Tests of what nginx does with a call when a process does not respond: no worker call may run twice (promise P3).

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Calls that processes have received completely. */
let got: string[];
beforeEach(() => {
  got = [];
});

type Behaviour = (request: http.IncomingMessage, response: http.ServerResponse) => void;

const responds: Behaviour = (_, response) => response.end('{}');
/** Break the connection after the whole call was received, so that its outcome is unknown. */
const breaks: Behaviour = (request) => request.socket.resetAndDestroy();
/** Serve one call per connection, and break the connection at the next call. */
const breaksKept: Behaviour = (request, response) => {
  const socket = request.socket as net.Socket & { served?: boolean };
  if (socket.served) breaks(request, response);
  else responds(request, response);
  socket.served = true;
};

/** Start a fake process. @returns its `host:port` */
async function startProcess(name: string, behave: Behaviour): Promise<string> {
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => {
      got.push(`${name} ${request.method}`);
      behave(request, response);
    });
  });
  ends.push(() => server.close().closeAllConnections());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function httpService(...api: string[]): Promise<{ nginx: Nginx; client: HttpClient }> {
  const nginx = await startNginx({ api, gateway: api });
  ends.push(() => nginx.stop());
  const client = new HttpClient(nginx.url);
  ends.push(() => client.close());
  return { nginx, client };
}

const PATH = '/api/v1/jobs/x/complete';
const AWAY = { error: 'No process responded; the outcome of this request is unknown', code: 'UNAVAILABLE' };
const body = { result: 'x'.repeat(100_000) };

it('nginx sends a call to another process if the first one accepts no connection', async () => {
  const { client } = await httpService(`127.0.0.1:${await freePort()}`, await startProcess('second', responds));
  for (let i = 0; i < 10; i++) expect((await client.call('POST', PATH, { body })).status).toBe(200);
  expect(got).toEqual(Array(10).fill('second POST'));
});

it.each(['POST', 'PATCH'])('nginx does not repeat a %s after the process broke the connection', async (method) => {
  const { client } = await httpService(await startProcess('first', breaks), await startProcess('second', breaks));
  const { status, body: response, headers } = await client.call(method, PATH, { body });
  expect({ status, response, after: headers['retry-after'] }).toEqual({
    status: 502,
    response: AWAY,
    after: '1',
  });
  expect(got).toHaveLength(1);
});

it('nginx does not repeat a POST after the process broke a kept connection', async () => {
  const { client } = await httpService(await startProcess('only', breaksKept));
  const statuses: number[] = [];
  for (let i = 0; i < 10; i++) statuses.push((await client.call('POST', PATH, { body })).status);
  expect(new Set(statuses)).toEqual(new Set([200, 502]));
  expect(got).toHaveLength(10);
});

it('nginx repeats a GET at another process after the first one broke the connection', async () => {
  const { client } = await httpService(await startProcess('first', breaks), await startProcess('second', responds));
  for (let i = 0; i < 10; i++) expect((await client.call('GET', '/api/v1/jobs/x')).status).toBe(200);
  expect(got.filter((call) => call === 'second GET')).toHaveLength(10);
});

it('nginx responds with JSON if no process runs', async () => {
  const { client } = await httpService(`127.0.0.1:${await freePort()}`);
  const { status, body: response } = await client.call('POST', PATH, { body });
  expect({ status, response }).toEqual({ status: 502, response: AWAY });
});

describe('refusal by nginx itself', () => {
  /** Send bytes, and return all received bytes until nginx closes the connection. */
  async function send(url: string, bytes: string): Promise<string> {
    const socket = net.connect(Number(new URL(url).port), '127.0.0.1');
    ends.push(() => socket.destroy());
    let text = '';
    socket.on('data', (chunk) => (text += chunk)).on('error', () => undefined);
    socket.write(bytes);
    await until(() => socket.destroyed || socket.readableEnded);
    return text;
  }

  it.each([
    ['garbage', 'garbage\r\n\r\n'],
    ['a path with a NUL byte', 'GET /api/v1/jobs/%00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['two hosts', 'GET /api/v1/keys HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n'],
  ])('nginx returns 400 in the form of the API for %s', async (_, bytes) => {
    const { nginx } = await httpService(await startProcess('only', responds));
    const text = await send(nginx.url, bytes);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(text.split('\r\n\r\n')[1] as string)).toMatchObject({ code: 'INVALID_REQUEST' });
    expect(got).toEqual([]);
  });

  it.each([
    ['a header', `GET /api/v1/keys HTTP/1.1\r\nHost: x\r\nx: ${'x'.repeat(20_000)}\r\nConnection: close\r\n\r\n`],
    ['a path', `GET /api/v1/jobs/${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`],
  ])('nginx returns 431 in the form of the API for %s over 16 KB', async (_, bytes) => {
    const { nginx } = await httpService(await startProcess('only', responds));
    const text = await send(nginx.url, bytes);
    expect(text).toMatch(/^HTTP\/1\.1 431 /);
    expect(JSON.parse(text.split('\r\n\r\n')[1] as string)).toEqual({
      error: 'headers must be at most 16 KB',
      code: 'INVALID_REQUEST',
    });
  });

  it('nginx returns 413 with the limit for a body over 6 MB', async () => {
    const { client } = await httpService(await startProcess('only', responds));
    const { status, body: response } = await client.call('POST', PATH, { raw: 'x'.repeat(6_300_000) });
    expect({ status, response }).toEqual({
      status: 413,
      response: { error: 'body must be at most 6291456 bytes', code: 'TOO_LARGE' },
    });
  });

  it.each([
    '/metrics',
    '/livez',
    '/readyz',
    '/',
    '/api/v1',
    '/api/v1/realtime',
    '/api/v1/../../metrics',
    '/api/v1/%2e%2e/%2e%2e/metrics',
    '//metrics',
    '/api/v2/x',
  ])('nginx returns 404 for the path %s', async (path) => {
    const { client } = await httpService(await startProcess('only', responds));
    const { status, body: response } = await client.call('GET', path);
    expect({ status, response }).toEqual({
      status: 404,
      response: { error: 'No such path', code: 'NOT_FOUND' },
    });
    expect(got).toEqual([]);
  });
});
