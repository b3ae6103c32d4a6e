import { expect, it } from '@jest/globals';
import { jobIn } from '../support/jobs.js';
import { sendRaw } from '../support/raw-client.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { until } from '../support/until.js';
import { ENDPOINTS, pathOf, UNKNOWN } from './endpoints.js';

// Calls of producers and workers in the usual form are served without Express, all others by Express, with the same
// result. The CORS headers show here which of the two it was, because Express adds them to every response of this
// service.

const limits = { MAX_BODY_BYTES: '4096', MAX_PAYLOAD_BYTES: '1024' };
const service = withService({ ...limits, CORS_ORIGINS: '*', LOG_LEVEL: 'debug' }, { isOwn: true });

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
  { name: 'with a query', target: (path) => `${path}?x=1` },
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
  { what: 'a host in odd letters', status: 200, path: poll, lines: async () => ['hOsT: a', ADMIN] },
  ...ENDPOINTS.filter(({ method, path }) => method === 'POST' && /:(spaceId|jobId)/.test(path)).map((endpoint) => ({
    what: `${endpoint.name} of something unknown`,
    status: endpoint.path.includes(':jobId') ? 404 : (endpoint.success ?? 200),
    path: async () => `/api/v1${pathOf(endpoint, { ...UNKNOWN, spaceId: 'a.b:c_D-9' })}`,
    body: JSON.stringify(endpoint.body),
  })),
];

/** Return what the service has logged of a request. */
const loggedOf = (id: string) =>
  (service.process?.output() ?? '')
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes(id))
    .map((line) => JSON.parse(line));

let calls = 0;

/** Make a call in one way. @returns its response and log lines, without what differs each time, and which router served it */
async function make({ path, body = '', ...call }: Pick<Call, 'path' | 'lines' | 'body'>, { target, lines }: Spelling) {
  const id = `request-${String(++calls).padStart(6, '0')}`;
  const own = (await call.lines?.()) ?? [HOST, ADMIN, TYPE];
  const rest = [`x-request-id: ${id}`, 'Connection: close', `Content-Length: ${Buffer.byteLength(body)}`];
  const asked = await path();
  const head = `POST ${target(asked)} HTTP/1.1\r\n${[...own, ...(lines ?? []), ...rest].join('\r\n')}\r\n\r\n`;
  const [response] = await sendRaw(service.url, head + Buffer.from(body).toString('latin1'));
  if (response === undefined) throw new Error('no answer');

  const {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': exposed,
    ...headers
  } = response.headers;
  expect(headers['x-request-id']).toBe(id);
  const text = response.text
    .replace(/[0-3][0-9a-f][a-z2-7]{26}/g, '<job>')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
  await until(() => loggedOf(id).some(({ msg }) => msg === 'request done'));
  // With an encoded letter, or with the slash, it is another path.
  const isSame = target(asked).split(/[?#]/)[0] === asked;
  const logged = loggedOf(id).map(({ time: _time, ms, requestId: _id, path: shown, ...line }) => {
    if (isSame) expect(shown).toBe(asked);
    return { ...line, isTimed: ms >= 0 };
  });
  return {
    isByExpress: origin === '*' && exposed === 'x-request-id,retry-after',
    response: { status: response.status, headers: { ...headers, date: '<time>', 'x-request-id': '<id>' }, text },
    logged,
  };
}

it.each(CALLS)('responds to $what with $status and logs it, however the call is written', async (call) => {
  const usual = await make(call, USUAL);
  const { status } = usual.response;
  expect({ status, isByExpress: usual.isByExpress }).toEqual({ status: call.status, isByExpress: false });
  const done = { level: 'debug', msg: 'request done', method: 'POST', status, isTimed: true };
  expect(usual.logged).toMatchObject(status < 400 ? [done] : [{ msg: 'request refused' }, done]);
  for (const spelling of OTHERS)
    expect({ spelling: spelling.name, ...(await make(call, spelling)) }).toEqual({
      ...{ spelling: spelling.name, isByExpress: true },
      ...{ response: usual.response, logged: usual.logged },
    });
});

// Refused before there are CORS headers.
it.each([
  ['two hosts', ['Host: a', 'Host: b', ADMIN]],
  ['the same host twice', ['Host: a', 'host: a', ADMIN]],
  ['no host', [ADMIN]],
])('responds to %s with 400 and logs it, however the call is written', async (_, lines) => {
  const call = { path: poll, lines: async () => lines };
  const usual = await make(call, USUAL);
  const text = '{"error":"Host header must appear exactly once","code":"INVALID_REQUEST"}';
  expect(usual.response).toMatchObject({ status: 400, text });
  for (const spelling of OTHERS) expect(await make(call, spelling)).toEqual(usual);
});

it.each([
  ...['/api/v1/keys', '/api/v1/spaces/a', '/api/v1/spaces/a/stats', '/api/v1/spaces/a/ack', '/api/v1/jobs/a'],
  ...['/api/v1/jobs/a/jobs', '/api/v1/jobs/a/poll', '/api/v1/jobs/a/constructor', '/api/v1/jobs/a/ACK'],
  ...['/api/v1/jobs//ack', '/api/v1/jobs/a//ack', `/api/v1/jobs/${'a'.repeat(129)}/ack`, '/api/v1/jobs/a%20b/ack'],
  ...['//api/v1/jobs/a/ack', '/API/v1/jobs/a/ack', '/x/api/v1/jobs/a/ack', '/api/v1/jobs/a/ack#x'],
])('leaves POST %s to Express', async (path) => {
  expect((await make({ path: async () => path }, USUAL)).isByExpress).toBe(true);
});
