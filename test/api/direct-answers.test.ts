import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createWhole } from '@yardmaster/standalone';
import { pino } from 'pino';
import { movedBy } from '../metrics/scrape.js';
import { jobIn } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { alike, headOf, OTHERS, type Spelling, sendRaw, USUAL } from './spellings.js';

const DURATION = 'yardmaster_http_request_duration_seconds';

type Line = Record<string, unknown>;

let service: TestService;
const logged: Line[] = [];
beforeAll(async () => {
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const log = pino({ level: 'debug' }, sink);
  const app: typeof createWhole = (config) => createWhole(config, log);
  service = await startService({ MAX_BODY_BYTES: '4096', MAX_PAYLOAD_BYTES: '1024' }, { app });
});
afterAll(() => service.stop());

interface Call {
  what: string;
  status: number;
  /** What it is for: made anew for each call, since a call may change it. */
  path: () => Promise<string>;
  key?: () => Promise<string | null>;
  body?: string;
  type?: string;
}

const at = (verb: string, status: Parameters<typeof jobIn>[1]) => async () =>
  `/api/v1/jobs/${await jobIn(service, status, 'ways')}/${verb}`;
const create = async () => '/api/v1/spaces/ways/jobs';
const poll = async () => '/api/v1/spaces/nobodys/jobs/poll';

const CALLS: Call[] = [
  { what: 'a poll', status: 200, path: poll, body: '{"count":2}' },
  { what: 'an ack', status: 200, path: at('ack', 'delivered') },
  { what: 'a completion', status: 200, path: at('complete', 'running'), body: '{"result":{"ä":"漢"}}' },
  { what: 'a creation', status: 201, path: create, body: '{"name":"ä 漢","payload":{"text":"ä"}}' },
  { what: 'a body that is no JSON', status: 400, path: create, body: '{"name":' },
  { what: 'fields that are wrong', status: 400, path: create, body: '{"name":5,"maxRetries":-1}' },
  { what: 'no key', status: 401, path: poll, key: async () => null },
  { what: 'a key that is none', status: 401, path: poll, key: async () => 'ym_a_b' },
  { what: 'a key without the scope', status: 403, path: poll, key: () => keyOf(['jobs:read']) },
  { what: 'a key of another space', status: 403, path: poll, key: () => keyOf(['jobs:poll'], 'mine') },
  { what: 'a job that is not there', status: 404, path: async () => `/api/v1/jobs/00${'a'.repeat(26)}/ack` },
  { what: 'what is no id at all', status: 404, path: async () => '/api/v1/jobs/nope/ack' },
  { what: 'a job in the wrong status', status: 409, path: at('ack', 'running') },
  { what: 'a body that is too large', status: 413, path: create, body: `{"name":"${'x'.repeat(4_096)}"}` },
  {
    what: 'a payload that is too large',
    status: 413,
    path: create,
    body: `{"name":"x","payload":{"a":"${'x'.repeat(1_024)}"}}`,
  },
  { what: 'a type that is not JSON', status: 415, path: create, body: '{"name":"x"}', type: 'text/plain' },
];

async function keyOf(scopes: string[], spaceId?: string): Promise<string> {
  return (await service.key(scopes, spaceId === undefined ? {} : { spaceId })).key;
}

let calls = 0;

/** Make a call in one way: its answer, and what the log and the metrics tell of it. */
async function make({ path, body, type = 'application/json', key }: Call, { target, lines = [] }: Spelling) {
  const id = `request-${String(++calls).padStart(6, '0')}`;
  const presented = key ? await key() : ADMIN_KEY;
  const head = ['Host: localhost', `x-request-id: ${id}`, ...lines];
  if (presented !== null) head.push(`x-api-key: ${presented}`);
  if (body !== undefined) head.push(`Content-Type: ${type}`);
  const asked = await path();
  let answer = '';
  const moved = await movedBy(service, DURATION, async () => {
    answer = await sendRaw(service.url, { target: target(asked), lines: head, ...(body && { body }) });
  });
  const ofCall = () => logged.filter(({ requestId }) => requestId === id);
  await until(() => ofCall().some(({ msg }) => msg === 'request done'));
  // Encoded, or with the slash, it is another path.
  const isSamePath = target(asked).split('?')[0] === asked;
  for (const { path: told } of isSamePath ? ofCall() : []) expect(told).toBe(asked);
  const told = ofCall().map(({ time: _time, ms: _ms, path: _path, requestId: _id, ...line }) => line);
  return { answer: alike(answer).replace(id, '<request>'), moved, told, asked };
}

describe.each(CALLS)('$what', (call) => {
  let usual: Awaited<ReturnType<typeof make>>;
  beforeAll(async () => {
    usual = await make(call, USUAL);
  });

  it(`is answered with ${call.status}, as JSON that is not to be kept or sniffed, and with the id of the caller`, () => {
    const { status, headers } = headOf(usual.answer);
    expect(status).toBe(call.status);
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': '<request>',
      'content-length': expect.any(String),
    });
  });

  it('is logged once as done, and once as refused when it is', () => {
    expect(usual.told.map(({ msg }) => msg)).toEqual(
      call.status < 400 ? ['request done'] : ['request refused', 'request done'],
    );
    expect(usual.told.at(-1)).toMatchObject({ method: 'POST', status: call.status });
  });

  it('is counted by the pattern of its path', () => {
    const route = usual.asked.replace(/(?<=spaces\/)[^/]+/, ':spaceId').replace(/(?<=v1\/jobs\/)[^/]+/, ':jobId');
    expect(usual.moved).toEqual({
      [`${DURATION}_count{method="POST",route="${route}",status="${call.status}"}`]: 1,
      [`${DURATION}_count{method="GET",route="/metrics",status="200"}`]: 1,
    });
  });

  it.each(OTHERS)('is answered, logged and counted the same $name', async (way) => {
    const { answer, moved, told } = await make(call, way);
    expect({ answer, moved, told }).toEqual({ answer: usual.answer, moved: usual.moved, told: usual.told });
  });
});
