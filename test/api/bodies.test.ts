import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Status } from '@yardmaster/protocol';
import { withApiProcess } from '../logs/api-process.js';
import type { CallOptions } from '../support/http.js';
import { jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { callEndpoint, ENDPOINTS, endpointOf, stateOf, type Target, UNKNOWN } from './endpoints.js';

// Forms and sizes of bodies, for every call that reads one. fields.test.ts tests their fields.

const service = withService();
const api = withApiProcess(service);
/** A running job that every refused call names; no refused call may change it. */
let target: Target;
let before: unknown;
beforeAll(async () => {
  target = { ...UNKNOWN, spaceId: 'of-bodies', jobId: await jobIn(service, 'running', 'of-bodies') };
  before = await stateOf(service, target);
});

/** Calls that read a JSON body. Logs have a reader of their own: test/logs. */
const WITH_BODY = ENDPOINTS.filter(({ body, name }) => body !== undefined && name !== 'Append Logs').map(
  ({ name }) => name,
);
const NEEDS_NO_BODY = ['Poll for Jobs', 'Checkpoint', 'Custom Event', 'Complete Job', 'Kill Job', 'Copy Job'];

const invalid = (error: string) => ({ status: 400, code: 'INVALID_REQUEST', error });
const tooLarge = (error: string) => ({ status: 413, code: 'TOO_LARGE', error });
const unsupported = (error: string) => ({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', error });
type Refusal = ReturnType<typeof invalid> & { details?: unknown };

async function expectRefusal(name: string, options: CallOptions, refusal: Refusal) {
  const { status, body } = await callEndpoint(service, endpointOf(name), target, options);
  expect({ name, status, ...body }).toEqual({ name, ...refusal });
}

async function expectSuccess(name: string, options: CallOptions, on: Status = 'running') {
  const endpoint = endpointOf(name);
  const jobId = await jobIn(service, on, 'taken', { maxRetries: 0 });
  const { status } = await callEndpoint(service, endpoint, { ...UNKNOWN, spaceId: 'taken', jobId }, options);
  expect({ name, status }).toEqual({ name, status: endpoint.success ?? 200 });
}

const LIMIT = 1_048_576;
const spacesAnd = (bytes: number, end = '{}') => ' '.repeat(bytes - Buffer.byteLength(end)) + end;
const CHUNKED = { 'content-length': undefined, 'transfer-encoding': 'chunked' };
const GZIP = { 'content-encoding': 'gzip' };
const typed = (type: string | undefined, raw = '{}'): CallOptions => ({ raw, headers: { 'content-type': type } });
const encoded = (encoding: string): CallOptions => ({ raw: gzipSync('{}'), headers: { 'content-encoding': encoding } });
const latin1 = (text: string): CallOptions => ({ raw: Buffer.from(text, 'latin1') });

function withWrongChecksum(bytes: Buffer): Buffer {
  bytes.writeUInt32LE(0, bytes.length - 8);
  return bytes;
}

describe('unreadable bodies', () => {
  const notJson = unsupported('Content-Type must be application/json');
  const notGzip = unsupported('Content-Encoding must be gzip or identity');
  const malformed = invalid('body must be valid JSON');
  const broken = invalid('body must be valid gzip');
  const notUtf8 = invalid('body must be valid UTF-8');
  const over = tooLarge('body must be at most 1048576 bytes');
  const overInflated = tooLarge('body must be at most 1048576 bytes decompressed');

  const FAULTS: [what: string, options: CallOptions, refusal: Refusal][] = [
    ['JSON that stops', { raw: '{"name":"work"' }, malformed],
    ['JSON with a comma too many', { raw: '{"name":"work",}' }, malformed],
    ['a word that is not JSON', { raw: 'NaN' }, malformed],
    ['two values', { raw: '{}{}' }, malformed],
    ['white space only', { raw: ' \n' }, malformed],
    ['a NUL byte', { raw: '\0' }, malformed],
    ['a raw line feed in a string', { raw: '"a\nb"' }, malformed],
    ['invalid UTF-8', latin1('{"name":"\xff"}'), notUtf8],
    ['UTF-8 cut short', latin1('"\xe2\x82'), notUtf8],
    ['UTF-16', { raw: Buffer.from('{"name":"ÿ"}', 'utf16le') }, notUtf8],
    ['no content type', typed(undefined), notJson],
    ['an empty content type', typed(''), notJson],
    ['text/plain', typed('text/plain'), notJson],
    ['a form', typed('application/x-www-form-urlencoded', 'name=work'), notJson],
    ['a type that only begins well', typed('application/jsonx'), notJson],
    ['another charset', typed('application/json; charset=latin1'), unsupported('charset must be utf-8')],
    ...['br', 'deflate', 'zstd', 'compress', 'gzip, gzip', 'gzip, br'].map(
      (encoding): [string, CallOptions, Refusal] => [`the encoding ${encoding}`, encoded(encoding), notGzip],
    ),
    ['plain text that is said to be gzip', { raw: '{"name":"work"}', headers: GZIP }, broken],
    ['gzip cut short', { raw: gzipSync('{"name":"work"}').subarray(0, -4), headers: GZIP }, broken],
    ['gzip with a wrong checksum', { raw: withWrongChecksum(gzipSync('{"name":"work"}')), headers: GZIP }, broken],
    ['gzip of broken JSON', { raw: gzipSync('{'), headers: GZIP }, malformed],
    ['gzip of invalid UTF-8', { raw: gzipSync(Buffer.from([0xff])), headers: GZIP }, notUtf8],
    ['a byte over 1 MB', { raw: spacesAnd(LIMIT + 1) }, over],
    ['a byte over 1 MB in chunks', { raw: spacesAnd(LIMIT + 1), headers: CHUNKED }, over],
    ['gzip that inflates to a byte over 1 MB', { raw: gzipSync(spacesAnd(LIMIT + 1)), headers: GZIP }, overInflated],
    ['a gzip bomb', { raw: gzipSync(Buffer.alloc(64 * LIMIT)), headers: GZIP }, overInflated],
  ];

  it.each(FAULTS)('refuses an unreadable body in every call: %s', async (_, options, refusal) => {
    // A body of Settle Jobs may be larger; see test/settle/sizes.test.ts.
    const names = WITH_BODY.filter((name) => name !== 'Settle Jobs' || refusal.status !== 413);
    for (const name of names) await expectRefusal(name, options, refusal);
  });

  it('stops inflating a body at the limit: four concurrent bombs of 200 MB take little memory', async () => {
    const raw = gzipSync(Buffer.alloc(200 * LIMIT));
    const usual = api.peakMegabytes();
    const send = () => api.call('POST', '/spaces/target/jobs', { raw, headers: GZIP });
    const refusals = await Promise.all(Array.from({ length: 4 }, send));
    expect(refusals.map(({ status, body }) => ({ status, ...body }))).toEqual(Array(4).fill(overInflated));
    expect(api.peakMegabytes() - usual).toBeLessThan(150);
  });
});

describe('readable bodies', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  const FORMS: [what: string, options: (text: string) => CallOptions][] = [
    ['gzip', (text) => ({ raw: gzipSync(text), headers: GZIP })],
    ['GZIP', (text) => ({ raw: gzipSync(text), headers: { 'content-encoding': 'GZIP' } })],
    ['identity', (text) => ({ raw: text, headers: { 'content-encoding': 'identity' } })],
    ['a charset', (text) => typed('application/json; charset=utf-8', text)],
    ['a charset in quotes', (text) => typed('Application/JSON;charset="UTF-8"', text)],
    ['chunks', (text) => ({ raw: text, headers: CHUNKED })],
    ['white space around', (text) => ({ raw: ` \r\n\t${text}\n` })],
    ['a byte order mark before', (text) => ({ raw: `\ufeff${text}` })],
    ['1 MB exactly', (text) => ({ raw: spacesAnd(LIMIT, text) })],
    ['gzip that inflates to 1 MB exactly', (text) => ({ raw: gzipSync(spacesAnd(LIMIT, text)), headers: GZIP })],
    ['fields that are unknown', (text) => ({ raw: text.replace('{', '{"unknown":[1],"__proto__":{"name":5},') })],
    ['an unknown field of 100,000 levels', (text) => ({ raw: text.replace('{', `{"unknown":${nested(100_000)},`) })],
  ];

  it.each(FORMS)('accepts a body that Create Job can read: %s', async (_, options) => {
    const response = await service.call('POST', '/spaces/readable/jobs', options('{"name":"Größe","payload":{"a":1}}'));
    expect(response).toMatchObject({ status: 201, body: { name: 'Größe', payload: { a: 1 } } });
  });

  const required = (...fields: string[]) => {
    const details = fields.map((path) => ({ path, message: `${path} is required` }));
    return { ...invalid(`${fields[0]} is required`), ...(fields.length > 1 && { details }) };
  };
  const ABSENT: [what: string, options: CallOptions][] = [
    ['absent', { body: undefined }],
    ['empty', { raw: '' }],
    ['empty, of a type that is not JSON', typed('text/plain', '')],
    ['chunks of nothing', { raw: '', headers: CHUNKED }],
    ['chunks of nothing without a type', { raw: '', headers: { ...CHUNKED, 'content-type': undefined } }],
    ['gzip of nothing', { raw: gzipSync(''), headers: GZIP }],
  ];

  it.each(ABSENT)('accepts a missing body where no field is required: %s', async (_, options) => {
    for (const name of NEEDS_NO_BODY) await expectSuccess(name, options);
    await expectRefusal('Create Job', options, required('name'));
    await expectRefusal('Fail Job', options, required('error'));
    await expectRefusal('Report Progress', options, required('percent', 'message'));
    await expectRefusal('Create Key', options, required('name', 'scopes'));
  });

  it.each(['Claim Specific Job', 'Acknowledge Job', 'Keepalive', 'List Jobs', 'List Keys'])(
    'ignores a body sent to %s, which expects none',
    async (name) => {
      const headers = { 'content-type': 'text/plain', 'content-encoding': 'br' };
      await expectSuccess(name, { raw: '{"broken', headers }, endpointOf(name).on ?? 'pending');
    },
  );
});

describe('values of a limited size', () => {
  const PAYLOAD = 262_144;
  const EVENT = 65_536;
  const text = (bytes: number) => 'a'.repeat(bytes);
  /** Calls in which the part with a size limit is `bytes` of JSON. */
  const SIZED: [name: string, part: string, limit: number, body: (bytes: number) => unknown][] = [
    ['Create Job', 'payload', PAYLOAD, (bytes) => ({ name: 'work', payload: { a: text(bytes - 8) } })],
    ['Copy Job', 'payload', PAYLOAD, (bytes) => ({ payload: { a: text(bytes - 8) } })],
    ['Complete Job', 'result', PAYLOAD, (bytes) => ({ result: text(bytes - 2) })],
    ['Checkpoint', 'body', EVENT, (bytes) => [text(bytes - 4)]],
    ['Custom Event', 'body', EVENT, (bytes) => text(bytes - 2)],
    ['Report Progress', 'body', EVENT, (bytes) => ({ percent: 1, message: text(bytes - 26) })],
    ['Fail Job', 'error', EVENT, (bytes) => ({ error: text(bytes - 2) })],
    ['Kill Job', 'reason', EVENT, (bytes) => ({ reason: text(bytes - 2) })],
  ];
  const over = (part: string, limit: number) => tooLarge(`${part} must be at most ${limit} bytes of JSON`);

  it.each(SIZED)('%s accepts a %s of %i bytes, and refuses one byte more', async (...row) => {
    const [name, part, limit, body] = row;
    await expectSuccess(name, { body: body(limit) });
    await expectRefusal(name, { body: body(limit + 1) }, over(part, limit));
  });

  it('measures a limited value in bytes, not in characters', async () => {
    const body = { name: 'work', payload: { a: '🚂'.repeat(PAYLOAD / 4) } };
    await expectRefusal('Create Job', { body }, over('payload', PAYLOAD));
  });

  it('measures a limited value in its stored form, not in its original form: 1e20 has 21 digits', async () => {
    await expectRefusal('Checkpoint', { raw: `[${'1e20,'.repeat(2_999)}1e20]` }, over('body', EVENT));
  });

  it('measures a limited value without the white space around it', async () => {
    const raw = `{"name":"work","payload":${' '.repeat(PAYLOAD)}{"a":"b"}}`;
    expect((await service.call('POST', '/spaces/sized/jobs', { raw })).status).toBe(201);
  });
});

it('stores nothing when a body is refused', async () => {
  expect(await stateOf(service, target)).toEqual(before);
});
