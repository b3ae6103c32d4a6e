import { once } from 'node:events';
import http, { type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROUTES } from '@yardmaster/api';
import { YardmasterError } from '@yardmaster/protocol';
import { sendEmpty, sendError } from '@yardmaster/server';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { createRouter } from '../../apps/api/src/router.js';
import { jobIn } from '../support/jobs.js';
import { sendRaw } from '../support/raw-client.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { until } from '../support/until.js';
import { ENDPOINTS, pathOf, UNKNOWN } from './endpoints.js';

// The API has a router of its own in Express. It must find the same endpoint as Express' own routes would, however a request
// is written.

const service = withService(
  { MAX_BODY_BYTES: '4096', MAX_PAYLOAD_BYTES: '1024', CORS_ORIGINS: '*', LOG_LEVEL: 'debug' },
  { isOwn: true },
);

/** A way to write the head of a call. */
interface Spelling {
  name: string;
  /** Returns the request target, which replaces the path. */
  target: (path: string) => string;
  /** Lines in addition to those that the call has anyway. */
  lines?: string[];
}
const USUAL: Spelling = { name: 'as usual', target: (path) => path };

const percent = (character: string) => `%${character.charCodeAt(0).toString(16)}`;
const OTHERS: Spelling[] = [
  { name: 'with an empty query', target: (path) => `${path}?` },
  { name: 'with a letter of the id encoded', target: (path) => path.replace(/(?<=(spaces|jobs)\/)./, percent) },
  { name: 'with an Origin', target: (path) => path, lines: ['Origin: https://app.example.com'] },
  { name: 'with a whole URL', target: (path) => `http://localhost${path}` },
  { name: 'with a slash at the end', target: (path) => `${path}/` },
];

const HOST = 'Host: localhost';
const TYPE = 'Content-Type: application/json';
const ADMIN = `x-api-key: ${ADMIN_KEY}`;
const keyOf = async (scope: string, fields = {}) => `x-api-key: ${(await service.key([scope], fields)).key}`;

interface Call {
  what: string;
  status: number;
  /** Returns the path; it is made again for each call, because the call may change what the path names. */
  path: () => Promise<string>;
  /** Lines of its head. Default: those of a call with the admin key. */
  lines?: () => Promise<string[]>;
  body?: string;
}
const verbOf = (verb: string, status: Parameters<typeof jobIn>[1]) => async () =>
  `/api/v1/jobs/${await jobIn(service, status, 'ways')}/${verb}`;
const verbOn = (id: string, verb: string) => async () => `/api/v1/jobs/${id}/${verb}`;
const create = async () => '/api/v1/spaces/ways/jobs';
const poll = async () => '/api/v1/spaces/empty/jobs/poll';
const payload = (bytes: number) => `{"name":"x","payload":{"a":"${'x'.repeat(bytes)}"}}`;

const CALLS: Call[] = [
  { what: 'a poll', status: 200, path: poll, body: '{"count":2}' },
  { what: 'an ack', status: 200, path: verbOf('ack', 'delivered') },
  { what: 'a completion', status: 200, path: verbOf('complete', 'running'), body: '{"result":{"ä":"漢"}}' },
  { what: 'a creation', status: 201, path: create, body: '{"name":"ä 漢","payload":{"text":"ä"}}' },
  { what: 'a body that is not JSON', status: 400, path: create, body: '{"name":' },
  { what: 'several wrong fields', status: 400, path: create, body: '{"name":5,"maxRetries":-1}' },
  { what: 'no key', status: 401, path: poll, lines: async () => [HOST] },
  { what: 'an invalid key', status: 401, path: poll, lines: async () => [HOST, 'x-api-key: ym_a_b'] },
  { what: 'a key without the scope', status: 403, path: poll, lines: async () => [HOST, await keyOf('jobs:read')] },
  {
    what: 'a key of another space',
    status: 403,
    path: poll,
    lines: async () => [HOST, await keyOf('jobs:poll', { spaceId: 'mine' })],
  },
  { what: 'a job that does not exist', status: 404, path: verbOn(UNKNOWN.jobId, 'ack') },
  { what: 'an invalid id', status: 404, path: verbOn('nope', 'ack') },
  { what: 'a job in the wrong status', status: 409, path: verbOf('ack', 'running') },
  { what: 'a body that is too large', status: 413, path: create, body: payload(4_096) },
  { what: 'a payload that is too large', status: 413, path: create, body: payload(1_024) },
  { what: 'a body without a type', status: 415, path: create, lines: async () => [HOST, ADMIN], body: '{"name":"x"}' },
  { what: 'a Host header in mixed case', status: 200, path: poll, lines: async () => ['hOsT: a', ADMIN] },
  ...ENDPOINTS.filter(({ method, path }) => method === 'POST' && /:(spaceId|jobId)/.test(path)).map((endpoint) => ({
    what: `${endpoint.name} of something unknown`,
    status: /:(jobId|scheduleId)/.test(endpoint.path) ? 404 : (endpoint.success ?? 200),
    path: async () => `/api/v1${pathOf(endpoint, { ...UNKNOWN, spaceId: 'a.b:c_D-9' })}`,
    body: JSON.stringify(endpoint.body),
  })),
];

/** Return what the service has logged of a request. */
const loggedOf = (id: string) =>
  (service.process?.output() ?? '')
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes(id))
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg !== 'audited action' && msg !== 'access denied'); // They have no path.

let calls = 0;

/** Make a call in one spelling. @returns its response and log lines, without values that differ each time */
async function make({ path, body = '', ...call }: Pick<Call, 'path' | 'lines' | 'body'>, { target, lines }: Spelling) {
  const id = `request-${String(++calls).padStart(6, '0')}`;
  const own = (await call.lines?.()) ?? [HOST, ADMIN, TYPE];
  const rest = [`x-request-id: ${id}`, 'Connection: close', `Content-Length: ${Buffer.byteLength(body)}`];
  const asked = await path();
  const head = `POST ${target(asked)} HTTP/1.1\r\n${[...own, ...(lines ?? []), ...rest].join('\r\n')}\r\n\r\n`;
  const [response] = await sendRaw(service.url, head + Buffer.from(body).toString('latin1'));
  if (response === undefined) throw new Error('no response');

  const {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': exposed,
    ...headers
  } = response.headers;
  expect(headers['x-request-id']).toBe(id);
  const text = response.text
    .replace(/[0-3][0-9a-f][a-z2-7]{26}/g, '<job>')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(/(?<="0\.0\.)[0-9a-z]+/g, '<epoch>');
  await until(() => loggedOf(id).some(({ msg }) => msg === 'request done'));
  // With an encoded letter, or with the slash, it is another path.
  const isSame = target(asked).split(/[?#]/)[0] === asked;
  const logged = loggedOf(id).map(({ time: _time, ms, requestId: _id, path: shown, ...line }) => {
    if (isSame) expect(shown).toBe(asked);
    return { ...line, isTimed: ms >= 0 };
  });
  return {
    hasCors: origin === '*' && exposed?.startsWith('x-request-id,retry-after') === true,
    response: { status: response.status, headers: { ...headers, date: '<time>', 'x-request-id': '<id>' }, text },
    logged,
  };
}

describe('a service', () => {
  it.each(CALLS)('responds to $what with $status and logs it, however the call is written', async (call) => {
    const usual = await make(call, USUAL);
    const { status } = usual.response;
    expect({ status, hasCors: usual.hasCors }).toEqual({ status: call.status, hasCors: true });
    const done = { level: 'debug', msg: 'request done', method: 'POST', status, isTimed: true };
    expect(usual.logged).toMatchObject(status < 400 ? [done] : [{ msg: 'request refused' }, done]);
    for (const spelling of OTHERS) {
      const other = { spelling: spelling.name, ...(await make(call, spelling)) };
      expect(other).toEqual({ spelling: spelling.name, ...usual });
    }
  });

  it.each([
    ['two hosts', ['Host: a', 'Host: b', ADMIN]],
    ['the same host twice', ['Host: a', 'host: a', ADMIN]],
    ['no host', [ADMIN]],
  ])('responds to %s with 400 and logs it, however the call is written', async (_, lines) => {
    const call = { path: poll, lines: async () => lines };
    const usual = await make(call, USUAL);
    const text = expect.stringMatching(/^\{"error":"Host header must [^"]+","code":"INVALID_REQUEST"\}\n$/);
    expect(usual).toMatchObject({ response: { status: 400, text } });
    for (const spelling of OTHERS) expect(await make(call, spelling)).toEqual(usual);
  });
});

/** Start a server of an app that responds with the endpoint that it finds. @returns its URL */
async function serveApp(mount: (app: Express) => void): Promise<string> {
  const app = express();
  app.enable('case sensitive routing');
  mount(app);
  app.use((_req, res) => void res.end('unknown'));
  app.use((error: { status?: number; code?: string }, _req: Request, res: Response, _next: NextFunction) => {
    res.end(error.code === 'INVALID_REQUEST' || error.status === 400 ? 'invalid encoding' : String(error));
  });
  const server = app.listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Send a request whose target is written as it stands. */
async function ask(url: string, method: string, target: string) {
  const { hostname, port } = new URL(url);
  const [response] = await once(http.request({ hostname, port, method, path: target, agent: false }).end(), 'response');
  return { status: response.statusCode, allow: response.headers.allow, text: await text(response) };
}

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

describe('the router', () => {
  const found = (res: ServerResponse, path: string, params: object) =>
    void res.end(`${path} ${Object.values(params).join('')}`);
  let [ours, ofExpress] = ['', ''];
  beforeAll(async () => {
    ours = await serveApp((app) => {
      const serve = (path: string) => (_req: Request, res: Response, params: object) => found(res, path, params);
      app.use(createRouter(ROUTES.map(({ method, path }) => ({ method, path, respond: serve(path) }))));
    });
    ofExpress = await serveApp((app) => {
      for (const { method, path } of ROUTES) {
        const verb = method.toLowerCase() as 'get' | 'post' | 'delete';
        app[verb](path, (req, res) => found(res, path, req.params));
      }
      const methodsOf = (path: string) => ROUTES.filter((row) => row.path === path).map(({ method }) => method);
      for (const path of new Set(ROUTES.map((row) => row.path))) {
        const methods = methodsOf(path).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
        const allow = ['OPTIONS', ...methods].join(', ');
        app.all(path, (req, res) => {
          if (req.method === 'OPTIONS') sendEmpty(res, { allow });
          else sendError(res, new YardmasterError('METHOD_NOT_ALLOWED', `Allowed here: ${allow}`), { allow });
        });
      }
    });
  });

  const ODD = [
    ...['/', '//', '/api', '/api/v1', '/api/v1/', '/api/v2/keys', '/api/v1/nope', '/%61pi/v1/keys', '/x/api/v1/keys'],
    ...['/api/v1/keys', '/api/v1/keys/', '/api/v1/keys//', '//api/v1/keys', '/api//v1/keys', '/api/v1//keys'],
    ...[
      '/API/v1/keys',
      '/api/v1/Keys',
      '/api/v1/%6Beys',
      '/api/v1/keys?x=/jobs/a',
      '/api/v1/keys/?x',
      '/api/v1/keys#x',
    ],
    ...[
      '/api/v1/keys/a',
      '/api/v1/keys/a/',
      '/api/v1/keys/a//',
      '/api/v1/keys/a/b',
      '/api/v1/keys/%',
      '/api/v1/keys/%zz',
    ],
    ...['/api/v1/jobs', '/api/v1/jobs/', '/api/v1/jobs//', '/api/v1/jobs//ack', '/api/v1/jobs/a', '/api/v1/jobs/a/'],
    ...[
      '/api/v1/jobs/a/ack',
      '/api/v1/jobs/a/ack/',
      '/api/v1/jobs/a/ack//',
      '/api/v1/jobs/a//ack',
      '/api/v1/jobs/a/ACK',
    ],
    ...['/api/v1/jobs/a/ack/more', '/api/v1/jobs/a/jobs', '/api/v1/jobs/a/poll', '/api/v1/jobs/a/constructor'],
    ...[
      '/api/v1/jobs/a/__proto__',
      '/api/v1/jobs/__proto__/ack',
      '/api/v1/jobs/:/ack',
      '/api/v1/jobs/:',
      '/api/v1/:/a',
    ],
    ...[`/api/v1/jobs/${'a'.repeat(129)}/ack`, '/api/v1/jobs/a%20b/ack', '/api/v1/jobs/a%2Fb/ack', '/api/v1/jobs/%2F'],
    ...[
      '/api/v1/jobs/a/ack#x',
      '/api/v1/jobs/a#x/ack',
      '/api/v1/jobs/a?x/ack',
      '/api/v1/jobs/%ff/ack',
      '/api/v1/jobs/%C3%A4',
    ],
    ...['/api/v1/jobs/a/callback/redeliver', '/api/v1/jobs/a/callback', '/api/v1/jobs/a/callback%2Fredeliver'],
    ...['/api/v1/spaces/a', '/api/v1/spaces/a/stats', '/api/v1/spaces/a/ack', '/api/v1/spaces/a/jobs/poll/'],
    ...['/api/v1/spaces/./jobs', '/api/v1/spaces/../jobs', '/api/v1/spaces/a%2/jobs/poll', '/api/v1/spaces/a;b/jobs'],
    ...[
      'http://localhost/api/v1/keys',
      'http://localhost/api/v1/jobs/a/ack',
      'http://localhost',
      '/api/v1/jobs/a/%61ck',
    ],
    ...['*', '/api/v1/jobs/a\\b/ack', '/api/v1/jobs/"/ack', '/api/v1/jobs/a%00/ack', '/api/v1/jobs/+/ack'],
  ];
  it.each(ODD)('routes %s to the same endpoint and parameters as Express', async (target) => {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      const [response, expected] = await Promise.all([ask(ours, method, target), ask(ofExpress, method, target)]);
      expect({ method, ...response }).toEqual({ method, ...expected });
    }
  });
});
