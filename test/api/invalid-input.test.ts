import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer, CallOptions } from '../support/http.js';
import { createJob, jobIn } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';

let service: TestService;
/** A running job that every refused worker call names; nothing may happen to it. */
let jobId: string;
let before: unknown[];

beforeAll(async () => {
  service = await startService();
  jobId = await jobIn(service, 'running', 'target');
  before = await stored();
});
afterAll(() => service.stop());

/** Everything that a refused request could have changed. */
async function stored(): Promise<unknown[]> {
  const reads = ['/keys', '/spaces/target/jobs', `/jobs/${jobId}`, `/jobs/${jobId}/progress`];
  return Promise.all(reads.map(async (path) => (await service.call('GET', path)).body));
}

const WORKER_CALLS = ['progress', 'checkpoint', 'event', 'complete', 'fail', 'kill'] as const;
type BodyCall = 'create' | 'poll' | 'keys' | (typeof WORKER_CALLS)[number];
const BODY_CALLS: readonly BodyCall[] = ['create', 'poll', 'keys', ...WORKER_CALLS];

function pathOf(call: BodyCall, id = jobId, spaceId = 'target'): string {
  if (call === 'create') return `/spaces/${spaceId}/jobs`;
  if (call === 'poll') return `/spaces/${spaceId}/jobs/poll`;
  return call === 'keys' ? '/keys' : `/jobs/${id}/${call}`;
}

const send = (call: BodyCall, options: CallOptions) => service.call('POST', pathOf(call), options);

interface Refusal {
  status: number;
  code: string;
  error: string;
  details?: unknown;
}

const expectRefusal = (answer: Answer, { status, ...body }: Refusal) => {
  expect(answer.body).toEqual(body);
  expect(answer.status).toBe(status);
};

/** A byte that nginx refuses by itself in a path (test/topology). */
const NUL = process.env.TEST_SERVICE_URL === undefined ? ['%00'] : [];

const invalid = (error: string): Refusal => ({ status: 400, code: 'INVALID_REQUEST', error });
const tooLarge = (error: string): Refusal => ({ status: 413, code: 'TOO_LARGE', error });
const unsupported = (error: string): Refusal => ({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', error });

const BODY_LIMIT = 1_048_576;
const spacesAnd = (bytes: number, end = '{}') => ' '.repeat(bytes - Buffer.byteLength(end)) + end;

describe('a body that cannot be read', () => {
  const gzip = { 'content-encoding': 'gzip' };
  const notJson = unsupported('Content-Type must be application/json');
  const notGzip = unsupported('Content-Encoding must be gzip or identity');
  const malformed = invalid('body must be valid JSON');
  const broken = invalid('body must be valid gzip');
  const over = tooLarge('body must be at most 1048576 bytes');
  const overInflated = tooLarge('body must be at most 1048576 bytes inflated');

  const faults: [what: string, options: CallOptions, refusal: Refusal][] = [
    ['JSON that stops', { raw: '{"name":"work"' }, malformed],
    ['JSON with a comma too many', { raw: '{"name":"work",}' }, malformed],
    ['a word that is not JSON', { raw: 'NaN' }, malformed],
    ['two values', { raw: '{}{}' }, malformed],
    ['white space only', { raw: ' \n' }, malformed],
    ['a NUL byte', { raw: '\0' }, malformed],
    ['a raw line feed in a string', { raw: '"a\nb"' }, malformed],
    ['invalid UTF-8', { raw: Buffer.from('{"name":"\xff"}', 'latin1') }, invalid('body must be valid UTF-8')],
    ['UTF-8 cut short', { raw: Buffer.from('"\xe2\x82', 'latin1') }, invalid('body must be valid UTF-8')],
    ['UTF-16', { raw: Buffer.from('{"name":"ÿ"}', 'utf16le') }, invalid('body must be valid UTF-8')],
    ['no content type', { raw: '{}', headers: { 'content-type': undefined } }, notJson],
    ['an empty content type', { raw: '{}', headers: { 'content-type': '' } }, notJson],
    ['text/plain', { raw: '{}', headers: { 'content-type': 'text/plain' } }, notJson],
    ['a form', { raw: 'name=work', headers: { 'content-type': 'application/x-www-form-urlencoded' } }, notJson],
    ['a type that only begins well', { raw: '{}', headers: { 'content-type': 'application/jsonx' } }, notJson],
    [
      'another charset',
      { raw: '{}', headers: { 'content-type': 'application/json; charset=latin1' } },
      unsupported('charset must be utf-8'),
    ],
    ...['br', 'deflate', 'zstd', 'compress', 'gzip, gzip', 'gzip, br'].map(
      (encoding): [string, CallOptions, Refusal] => [
        `the encoding ${encoding}`,
        { raw: gzipSync('{}'), headers: { 'content-encoding': encoding } },
        notGzip,
      ],
    ),
    ['plain text that is said to be gzip', { raw: '{"name":"work"}', headers: gzip }, broken],
    ['gzip cut short', { raw: gzipSync('{"name":"work"}').subarray(0, -4), headers: gzip }, broken],
    ['gzip with a wrong checksum', { raw: withWrongChecksum(gzipSync('{"name":"work"}')), headers: gzip }, broken],
    ['gzip of broken JSON', { raw: gzipSync('{'), headers: gzip }, malformed],
    [
      'gzip of invalid UTF-8',
      { raw: gzipSync(Buffer.from([0xff])), headers: gzip },
      invalid('body must be valid UTF-8'),
    ],
    ['a byte over 1 MB', { raw: spacesAnd(BODY_LIMIT + 1) }, over],
    [
      'a byte over 1 MB in chunks',
      { raw: spacesAnd(BODY_LIMIT + 1), headers: { 'content-length': undefined, 'transfer-encoding': 'chunked' } },
      over,
    ],
    [
      'gzip that inflates to a byte over 1 MB',
      { raw: gzipSync(spacesAnd(BODY_LIMIT + 1)), headers: gzip },
      overInflated,
    ],
    ['a gzip bomb', { raw: gzipSync(Buffer.alloc(256 * BODY_LIMIT)), headers: gzip }, overInflated],
  ];

  function withWrongChecksum(bytes: Buffer): Buffer {
    bytes.writeUInt32LE(0, bytes.length - 8);
    return bytes;
  }

  describe.each(BODY_CALLS)('%s', (call) => {
    it.each(faults)('refuses %s', async (_, options, refusal) => {
      expectRefusal(await send(call, options), refusal);
    });
  });

  const wantObject = BODY_CALLS.filter((call) => call !== 'checkpoint' && call !== 'event');
  const others = ['null', '[]', '5', '"text"', 'true', '[{"name":"work"}]'];
  it.each(wantObject.flatMap((call) => others.map((raw) => ({ call, raw }))))(
    '$call refuses $raw, which is no object',
    async ({ call, raw }) => {
      expectRefusal(await send(call, { raw }), invalid('body must be an object'));
    },
  );
});

describe('a body that can be read', () => {
  const forms: [what: string, options: (text: string) => CallOptions][] = [
    ['gzip', (text) => ({ raw: gzipSync(text), headers: { 'content-encoding': 'gzip' } })],
    ['GZIP', (text) => ({ raw: gzipSync(text), headers: { 'content-encoding': 'GZIP' } })],
    ['identity', (text) => ({ raw: text, headers: { 'content-encoding': 'identity' } })],
    ['a charset', (text) => ({ raw: text, headers: { 'content-type': 'application/json; charset=utf-8' } })],
    ['a charset in quotes', (text) => ({ raw: text, headers: { 'content-type': 'Application/JSON;charset="UTF-8"' } })],
    ['chunks', (text) => ({ raw: text, headers: { 'content-length': undefined, 'transfer-encoding': 'chunked' } })],
    ['white space around', (text) => ({ raw: ` \r\n\t${text}\n` })],
    ['1 MB exactly', (text) => ({ raw: spacesAnd(BODY_LIMIT, text) })],
    [
      'gzip that inflates to 1 MB exactly',
      (text) => ({ raw: gzipSync(spacesAnd(BODY_LIMIT, text)), headers: { 'content-encoding': 'gzip' } }),
    ],
    ['fields nobody asked for', (text) => ({ raw: text.replace('{', '{"unknown":[1],"__proto__":{"name":5},') })],
    ['an unknown field of 100 000 levels', (text) => ({ raw: text.replace('{', `{"unknown":${nested(100_000)},`) })],
  ];
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

  it.each(forms)('takes %s', async (_, options) => {
    const answer = await service.call('POST', '/spaces/readable/jobs', options('{"name":"Größe","payload":{"a":1}}'));
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ name: 'Größe', payload: { a: 1 } });
  });

  const absent: [what: string, options: CallOptions][] = [
    ['absent', {}],
    ['empty', { raw: '' }],
    ['empty, of a type that is not JSON', { raw: '', headers: { 'content-type': 'text/plain' } }],
    ['chunks of nothing', { raw: '', headers: { 'content-length': undefined, 'transfer-encoding': 'chunked' } }],
    ['gzip of nothing', { raw: gzipSync(''), headers: { 'content-encoding': 'gzip' } }],
  ];
  describe.each(absent)('that is %s', (_, options) => {
    it.each(['poll', 'checkpoint', 'event', 'complete', 'kill'] as const)('is enough for %s', async (call) => {
      const id = await jobIn(service, 'running', 'absent');
      const { status } = await service.call('POST', pathOf(call, id, 'absent'), options);
      expect(status).toBe(200);
    });

    const percent = { path: 'percent', message: 'percent is required' };
    const message = { path: 'message', message: 'message is required' };
    const name = { path: 'name', message: 'name is required' };
    const scopes = { path: 'scopes', message: 'scopes is required' };
    it.each([
      { call: 'create' as const, refusal: invalid('name is required') },
      { call: 'fail' as const, refusal: invalid('error is required') },
      { call: 'progress' as const, refusal: { ...invalid('percent is required'), details: [percent, message] } },
      { call: 'keys' as const, refusal: { ...invalid('name is required'), details: [name, scopes] } },
    ])('is refused by $call: $refusal.error', async ({ call, refusal }) => {
      expectRefusal(await send(call, options), refusal);
    });
  });

  it.each(['poll', 'checkpoint', 'event', 'complete', 'kill'] as const)(
    'chunks of nothing without a content type are enough for %s',
    async (call) => {
      const id = await jobIn(service, 'running', 'absent');
      const headers = { 'content-length': undefined, 'content-type': undefined, 'transfer-encoding': 'chunked' };
      const { status } = await service.call('POST', pathOf(call, id, 'absent'), { raw: '', headers });
      expect(status).toBe(200);
    },
  );

  it.each([
    { verb: 'claim', on: 'pending' },
    { verb: 'ack', on: 'delivered' },
    { verb: 'keepalive', on: 'running' },
  ] as const)('is not looked at by $verb, which has none', async ({ verb, on }) => {
    const id = await jobIn(service, on, 'unread');
    const headers = { 'content-type': 'text/plain', 'content-encoding': 'br' };
    const { status } = await service.call('POST', `/jobs/${id}/${verb}`, { raw: '{"broken', headers });
    expect(status).toBe(200);
  });

  it.each(['/spaces/unread/jobs', '/keys'])('is not looked at by GET %s', async (path) => {
    const { status } = await service.call('GET', path, { raw: '{"broken' });
    expect(status).toBe(200);
  });
});

interface Fault {
  what: string;
  /** Value to send, or text to send as it is. */
  body?: unknown;
  raw?: string;
  /** The sentence, or all of them in order: then `details` is expected, too. */
  error: string | string[];
}

/** A title that fits on a line. */
const short = (value: unknown) => {
  const characters = [...(typeof value === 'string' ? value : JSON.stringify(value))];
  return characters.length > 60 ? `${characters.slice(0, 60).join('')}…` : characters.join('');
};

const detailOf = (message: string) => ({ path: message.slice(0, message.indexOf(' ')), message });

const faultsOf = (call: BodyCall, faults: Fault[]) => {
  describe(call, () => {
    it.each(faults)('refuses $what', async ({ body, raw, error }) => {
      const sentences = [error].flat();
      const refusal = invalid(sentences[0] as string);
      const details = sentences.length > 1 ? { details: sentences.map(detailOf) } : {};
      expectRefusal(await send(call, raw === undefined ? { body } : { raw }), { ...refusal, ...details });
    });
  });
};

/** The same sentence for each of several wrong values of one field. */
const valuesOf = (field: string, error: string, values: unknown[], rest: object = {}): Fault[] =>
  values.map((value) => ({
    what: short(`${field}: ${JSON.stringify(value)}`),
    body: { ...rest, [field]: value },
    error: `${field} ${error}`,
  }));

const JSON_BEYOND = 'must not contain a number beyond the range of a double';
const JSON_DEEP = 'must not nest deeper than 64 levels';
const levels = (count: number) => '['.repeat(count) + ']'.repeat(count);
const named = { name: 'work' };

const MAX_RETRIES = 'must be an integer between 0 and 100';
const TIMEOUT = 'must be a number above 0 and at most 86400';
const CALLBACK_URL = 'must be an http or https URL without user name and password';

faultsOf('create', [
  { what: 'no name', body: {}, error: 'name is required' },
  { what: 'a name that is inherited only', raw: '{"__proto__":{"name":"work"}}', error: 'name is required' },
  ...valuesOf('name', 'is required', [null, '']),
  ...valuesOf('name', 'must be a string', [5, true, ['work'], { a: 1 }]),
  ...valuesOf('name', 'must be 1 to 128 characters', ['x'.repeat(129), '🚂'.repeat(129), 'x'.repeat(100_000)]),
  ...valuesOf('name', 'must be well-formed Unicode', ['\ud800', 'a\udfff']),
  ...valuesOf('payload', 'must be an object', [[], [1], 'text', 5, true, false, 0, ''], named),
  {
    what: 'a payload of 65 levels',
    raw: `{"name":"work","payload":{"a":${levels(64)}}}`,
    error: `payload ${JSON_DEEP}`,
  },
  {
    what: 'a payload of 100 000 levels',
    raw: `{"name":"work","payload":{"a":${levels(100_000)}}}`,
    error: `payload ${JSON_DEEP}`,
  },
  { what: 'a payload with 1e400', raw: '{"name":"work","payload":{"a":[1e400]}}', error: `payload ${JSON_BEYOND}` },
  ...valuesOf('maxRetries', MAX_RETRIES, [-1, 101, 1.5, '3', null, true, [], {}], named),
  { what: 'maxRetries: 1e400', raw: '{"name":"work","maxRetries":1e400}', error: `maxRetries ${MAX_RETRIES}` },
  ...valuesOf('timeoutSeconds', TIMEOUT, [0, -1, 86_400.5, 1e9, '300', null, false, [], {}], named),
  { what: 'timeoutSeconds: 1e400', raw: '{"name":"work","timeoutSeconds":1e400}', error: `timeoutSeconds ${TIMEOUT}` },
  ...valuesOf(
    'callbackUrl',
    CALLBACK_URL,
    [
      '',
      '/relative',
      'example.com/no-scheme',
      '//example.com',
      'ftp://example.com/',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'http://user@example.com/',
      'http://:password@example.com/',
      'https://user:password@example.com/',
      'http://',
      'http://a b/',
      'http://example.com:99999/',
      'http://example.com/half-a-character-\ud83d',
    ],
    named,
  ),
  ...valuesOf('callbackUrl', 'must be a string', [5, [], {}, true], named),
  ...valuesOf('callbackUrl', 'must be at most 2048 characters', [`http://example.com/${'a'.repeat(2030)}`], named),
  ...valuesOf('callbackHeaders', 'must be an object', [[], 'x: y', 5, true], named),
  ...valuesOf(
    'callbackHeaders',
    'must have at most 20 headers',
    [Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`x-${i}`, 'v']))],
    named,
  ),
  ...valuesOf(
    'callbackHeaders',
    'must be at most 4096 bytes in all',
    [{ x: 'v'.repeat(4096) }, Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`h${i}`, 'v'.repeat(255)]))],
    named,
  ),
  ...[
    'host',
    'Host',
    'content-length',
    'Content-Length',
    'transfer-encoding',
    'TRANSFER-ENCODING',
    'connection',
    'keep-alive',
    'proxy-connection',
    'proxy-authenticate',
    'proxy-authorization',
    'te',
    'trailer',
    'upgrade',
    'expect',
    '__proto__',
  ].map((header) => ({
    what: `the callback header ${header}`,
    body: { ...named, callbackHeaders: { 'x-fine': 'v', [header]: 'v' } },
    error: `callbackHeaders.${header} is a header that callers cannot set`,
  })),
  ...['', 'a b', 'a:b', 'a\r\nb', 'é', 'a\0'].map((header) => ({
    what: `the callback header ${JSON.stringify(header)}`,
    body: { ...named, callbackHeaders: { [header]: 'v' } },
    error: `callbackHeaders.${header} is not a valid header name`,
  })),
  ...[5, null, true, ['v'], { a: 'v' }].map((value) => ({
    what: `a callback header of ${JSON.stringify(value)}`,
    body: { ...named, callbackHeaders: { 'x-a': value } },
    error: 'callbackHeaders.x-a must be a string',
  })),
  ...['a\r\nhost: b', 'a\nb', 'a\rb', 'a\0b', '\x7f', '€'].map((value) => ({
    what: `a callback header of ${JSON.stringify(value)}`,
    body: { ...named, callbackHeaders: { 'x-a': value } },
    error: 'callbackHeaders.x-a has a character that a header cannot carry',
  })),
  {
    what: 'a callback header that is given twice',
    body: { ...named, callbackHeaders: { 'x-a': 'v', 'X-A': 'v' } },
    error: 'callbackHeaders.X-A is given twice',
  },
  {
    what: 'several faults, and names each',
    body: {
      name: 5,
      payload: [],
      maxRetries: -1,
      timeoutSeconds: 0,
      callbackUrl: 'x',
      callbackHeaders: { te: 'v', a: 5 },
    },
    error: [
      'name must be a string',
      'payload must be an object',
      `maxRetries ${MAX_RETRIES}`,
      `timeoutSeconds ${TIMEOUT}`,
      `callbackUrl ${CALLBACK_URL}`,
      'callbackHeaders.te is a header that callers cannot set',
      'callbackHeaders.a must be a string',
    ],
  },
]);

const COUNT = 'must be an integer of at least 1';
const FILTER = 'must be a string or an array of strings';
const FILTER_LIST = 'must be an array of strings';
const FILTER_ENTRIES: [entry: unknown, error: string][] = [
  [5, 'must be a string'],
  [{}, 'must be a string'],
  ['x'.repeat(129), 'must be 1 to 128 characters'],
];
const filterFaults = (field: string, error: string, values: unknown[]): Fault[] => [
  ...valuesOf(field, error, values),
  ...valuesOf(field, 'must have at most 100 names', [Array.from({ length: 101 }, (_, i) => `n${i}`)]),
  ...FILTER_ENTRIES.map(([entry, fault]) => ({
    what: `${field} with the entry ${JSON.stringify(entry).slice(0, 20)}`,
    body: { [field]: ['fine', entry] },
    error: `${field}[1] ${fault}`,
  })),
];

faultsOf('poll', [
  ...valuesOf('count', COUNT, [0, -1, 1.5, '5', 'abc', null, true, [], {}]),
  { what: 'count: 1e400', raw: '{"count":1e400}', error: `count ${COUNT}` },
  ...filterFaults('type', FILTER, [5, null, true, {}]),
  ...filterFaults('name', FILTER, [5, null, true, {}]),
  ...filterFaults('types', FILTER_LIST, [5, null, true, {}, 'work']),
  ...filterFaults('names', FILTER_LIST, [5, null, true, {}, 'work']),
  { what: 'a fault in a filter that loses', body: { types: ['work'], name: 5 }, error: `name ${FILTER}` },
  {
    what: 'several faults, and names each',
    body: { count: 0, types: 'work', names: [1, 'fine', 2] },
    error: [`count ${COUNT}`, `types ${FILTER_LIST}`, 'names[0] must be a string', 'names[2] must be a string'],
  },
]);

const PERCENT = 'must be between 0 and 100';
const half = { percent: 50, message: 'half' };

faultsOf('progress', [
  { what: 'no percent', body: { message: 'half' }, error: 'percent is required' },
  ...valuesOf('percent', PERCENT, [-0.001, -1, 100.001, 101, 1e9], { message: 'half' }),
  ...valuesOf('percent', 'must be a number', ['50', null, true, [50], {}], { message: 'half' }),
  { what: 'percent: 1e400', raw: '{"percent":1e400,"message":"half"}', error: 'percent must be between 0 and 100' },
  { what: 'no message', body: { percent: 50 }, error: 'message is required' },
  ...valuesOf('message', 'must not be empty', [''], { percent: 50 }),
  ...valuesOf('message', 'must be a string', [5, null, true, ['half'], {}], { percent: 50 }),
  ...valuesOf('subProgress', 'must be an object', [[], 'half', 5, null, true], half),
  ...valuesOf(
    'subProgress',
    'must have at most 50 stages',
    [Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`s${i}`, { percent: 1 }]))],
    half,
  ),
  ...[
    { stage: {}, error: 'build.percent is required' },
    { stage: { percent: 101 }, error: `build.percent ${PERCENT}` },
    { stage: { percent: -1 }, error: `build.percent ${PERCENT}` },
    { stage: { percent: '5' }, error: 'build.percent must be a number' },
    { stage: { percent: 5, message: 5 }, error: 'build.message must be a string' },
    { stage: { percent: 5, message: null }, error: 'build.message must be a string' },
    { stage: null, error: 'build must be an object' },
    { stage: 5, error: 'build must be an object' },
    { stage: [], error: 'build must be an object' },
  ].map(({ stage, error }) => ({
    what: `the stage ${JSON.stringify(stage)}`,
    body: { ...half, subProgress: { fine: { percent: 1 }, build: stage } },
    error: `subProgress.${error}`,
  })),
  {
    what: 'a fault in the stage __proto__',
    raw: '{"percent":50,"message":"half","subProgress":{"__proto__":{"percent":101}}}',
    error: `subProgress.__proto__.percent ${PERCENT}`,
  },
  {
    what: 'several faults, and names each',
    body: { percent: 101, message: '', subProgress: { a: { percent: -1, message: 5 }, b: 5 } },
    error: [
      `percent ${PERCENT}`,
      'message must not be empty',
      `subProgress.a.percent ${PERCENT}`,
      'subProgress.a.message must be a string',
      'subProgress.b must be an object',
    ],
  },
]);

for (const call of ['checkpoint', 'event'] as const) {
  faultsOf(call, [
    { what: 'the scalar 1e400', raw: '1e400', error: `body ${JSON_BEYOND}` },
    { what: '-1e400 inside', raw: '{"a":[-1e400]}', error: `body ${JSON_BEYOND}` },
    { what: '65 levels', raw: levels(65), error: `body ${JSON_DEEP}` },
    { what: '100 000 levels', raw: levels(100_000), error: `body ${JSON_DEEP}` },
  ]);
}

faultsOf('complete', [
  { what: 'a result with 1e400', raw: '{"result":{"a":1e400}}', error: `result ${JSON_BEYOND}` },
  { what: 'the result 1e400', raw: '{"result":1e400}', error: `result ${JSON_BEYOND}` },
  { what: 'a result of 65 levels', raw: `{"result":${levels(65)}}`, error: `result ${JSON_DEEP}` },
]);

faultsOf('fail', [
  { what: 'no error', body: {}, error: 'error is required' },
  ...valuesOf('error', 'must be a string or an object', [null, 5, true, [], ['no']]),
  { what: 'an error with 1e400', raw: '{"error":{"a":1e400}}', error: `error ${JSON_BEYOND}` },
  { what: 'an error of 65 levels', raw: `{"error":{"a":${levels(64)}}}`, error: `error ${JSON_DEEP}` },
]);

faultsOf('kill', valuesOf('reason', 'must be a string', [5, true, [], {}, ['stop']]));

const SCOPE =
  'must be one of jobs:create, jobs:read, jobs:read:progress, jobs:poll, jobs:ack, jobs:progress, jobs:event, ' +
  'jobs:complete, jobs:fail, jobs:kill, jobs:keepalive, jobs:worker, keys:manage';
const SPACE_ID = 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : -';
const EXPIRES = 'must be an ISO 8601 timestamp with a time zone';
const reader = { name: 'reader', scopes: ['jobs:read'] };

faultsOf('keys', [
  { what: 'no name', body: { scopes: ['jobs:read'] }, error: 'name is required' },
  ...valuesOf('name', 'is required', ['', null], { scopes: ['jobs:read'] }),
  ...valuesOf('name', 'must be a string', [5, [], {}], { scopes: ['jobs:read'] }),
  ...valuesOf('name', 'must be 1 to 128 characters', ['x'.repeat(129)], { scopes: ['jobs:read'] }),
  { what: 'no scopes', body: named, error: 'scopes is required' },
  ...valuesOf('scopes', 'must have at least one scope', [[]], named),
  ...valuesOf('scopes', 'must be an array of scopes', ['jobs:read', null, 5, { 0: 'jobs:read' }], named),
  ...['nope', 'jobs', 'jobs:*', '*', 'JOBS:READ', 'jobs:read ', '', '__proto__', 5, null, ['jobs:read']].map(
    (scope) => ({
      what: `the scope ${JSON.stringify(scope)}`,
      body: { ...named, scopes: ['jobs:read', scope] },
      error: `scopes[1] ${SCOPE}`,
    }),
  ),
  ...valuesOf('spaceId', SPACE_ID, ['', 'a b', 'a/b', 'ü', 'x'.repeat(129), 'a\n', '*'], reader),
  ...valuesOf('spaceId', 'must be a string', [5, [], {}, true], reader),
  ...valuesOf(
    'expiresAt',
    EXPIRES,
    [
      '',
      'tomorrow',
      '2030-01-01',
      '2030-01-01T00:00:00',
      '2030-01-01 00:00:00Z',
      '2030-02-30T00:00:00Z',
      '2030-01-01T24:00:00Z',
      '2030-01-01T00:00:60Z',
      '2030-13-01T00:00:00Z',
      '1900000000',
      1_900_000_000,
      true,
      [],
      {},
    ],
    reader,
  ),
  {
    what: 'several faults, and names each',
    body: { name: '', scopes: ['nope'], spaceId: 'a b', expiresAt: 'tomorrow' },
    error: ['name is required', `scopes[0] ${SCOPE}`, `spaceId ${SPACE_ID}`, `expiresAt ${EXPIRES}`],
  },
]);

const PAYLOAD = 262_144;
const EVENT = 65_536;
const text = (bytes: number) => 'a'.repeat(bytes);
/** The body whose measured part is `bytes` of JSON. */
const sized: { call: BodyCall; part: string; limit: number; body: (bytes: number) => unknown }[] = [
  {
    call: 'create',
    part: 'payload',
    limit: PAYLOAD,
    body: (bytes) => ({ ...named, payload: { a: text(bytes - 8) } }),
  },
  { call: 'complete', part: 'result', limit: PAYLOAD, body: (bytes) => ({ result: text(bytes - 2) }) },
  { call: 'checkpoint', part: 'body', limit: EVENT, body: (bytes) => [text(bytes - 4)] },
  { call: 'event', part: 'body', limit: EVENT, body: (bytes) => text(bytes - 2) },
  { call: 'progress', part: 'body', limit: EVENT, body: (bytes) => ({ percent: 1, message: text(bytes - 26) }) },
  { call: 'fail', part: 'error', limit: EVENT, body: (bytes) => ({ error: text(bytes - 2) }) },
  { call: 'kill', part: 'reason', limit: EVENT, body: (bytes) => ({ reason: text(bytes - 2) }) },
];

describe('a value of exactly its limit', () => {
  // Not checked by fsck: the reply parser of ioredis keeps a timer for seconds after it read values of this size.
  let roomy: TestService;
  beforeAll(async () => {
    roomy = await startService({}, { check: false });
  });
  afterAll(() => roomy.stop());

  it.each(sized)('$call takes a $part of $limit bytes', async ({ call, limit, body }) => {
    const id = await jobIn(roomy, 'running', 'sized', { maxRetries: 0 });
    const answer = await roomy.call('POST', pathOf(call, id, 'sized'), { body: body(limit) });
    expect(answer.status).toBe(call === 'create' ? 201 : 200);
  });
});

describe('a value over its limit', () => {
  it.each(sized)('$call refuses a $part of a byte more than $limit', async ({ call, part, limit, body }) => {
    expectRefusal(
      await send(call, { body: body(limit + 1) }),
      tooLarge(`${part} must be at most ${limit} bytes of JSON`),
    );
  });

  it('is measured in bytes, not in characters', async () => {
    const body = { ...named, payload: { a: '🚂'.repeat(PAYLOAD / 4) } };
    expectRefusal(await send('create', { body }), tooLarge(`payload must be at most ${PAYLOAD} bytes of JSON`));
  });

  it('is measured as it is stored, not as it was written: 1e20 is 21 digits', async () => {
    const raw = `[${'1e20,'.repeat(2_999)}1e20]`;
    expectRefusal(await send('checkpoint', { raw }), tooLarge(`body must be at most ${EVENT} bytes of JSON`));
  });

  it('is not measured with the white space around it', async () => {
    const raw = JSON.stringify({ ...named, payload: { a: 'b' } }).replace('{"a"', `${' '.repeat(PAYLOAD)}{"a"`);
    expect((await service.call('POST', '/spaces/sized/jobs', { raw })).status).toBe(201);
  });

  it('is told by the limit that is configured', async () => {
    const limits = { MAX_BODY_BYTES: '4096', MAX_PAYLOAD_BYTES: '2048', MAX_EVENT_BYTES: '1024' };
    const small = await startService(limits);
    try {
      const id = await jobIn(small, 'running', 'small');
      const refused = [
        { path: '/spaces/small/jobs', body: { ...named, payload: { a: text(2041) } }, what: 'payload', limit: 2048 },
        { path: `/jobs/${id}/complete`, body: { result: text(2047) }, what: 'result', limit: 2048 },
        { path: `/jobs/${id}/event`, body: text(1023), what: 'body', limit: 1024 },
      ];
      for (const { path, body, what, limit } of refused) {
        const answer = await small.call('POST', path, { body });
        expectRefusal(answer, tooLarge(`${what} must be at most ${limit} bytes of JSON`));
      }
      const whole = await small.call('POST', '/spaces/small/jobs', { raw: spacesAnd(4097) });
      expectRefusal(whole, tooLarge('body must be at most 4096 bytes'));
    } finally {
      await small.stop();
    }
  });

  it('is not answered with more than was sent', async () => {
    const raw = `{"name":"work","scopes":[${'1,'.repeat(1_000)}1]}`;
    const answer = await send('keys', { raw });
    expect(answer.status).toBe(400);
    expect(answer.text.length).toBeLessThan(10_000);
  });
});

describe('values at the edge of what is allowed', () => {
  it.each(
    [
      { name: 'x' },
      { name: 'x'.repeat(128) },
      { name: '🚂'.repeat(128) },
      { name: '\0\u2028 ' },
      { payload: null },
      { payload: {} },
      { maxRetries: 0 },
      { maxRetries: 100 },
      { timeoutSeconds: 0.001 },
      { timeoutSeconds: 86_400 },
      { callbackUrl: null },
      { callbackUrl: 'http://localhost:1/a?b#c' },
      { callbackUrl: `https://[::1]/${'a'.repeat(2048 - 14)}` },
      { callbackHeaders: null },
      { callbackHeaders: {} },
      { callbackHeaders: { 'Content-Type': 'text/plain', 'user-agent': 'me', Authorization: 'Bearer ü\t!' } },
      { callbackHeaders: { x: 'v'.repeat(4095) } },
      { callbackHeaders: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`x-${i}`, ''])) },
    ].map((fields) => ({ fields, title: short(fields) })),
  )('create takes $title', async ({ fields }) => {
    const { status, body } = await service.call('POST', '/spaces/edge/jobs', { body: { ...named, ...fields } });
    expect(status).toBe(201);
    expect(body).toMatchObject(fields);
  });

  it.each([
    { percent: 0, message: ' ' },
    { percent: 100, message: 'done' },
    { percent: 1e-7, message: 'hardly' },
    { percent: 1, message: 'x', subProgress: {} },
    { percent: 1, message: 'x', subProgress: { '': { percent: 0 }, b: { percent: 100, message: '' } } },
  ])('progress takes %j', async (body) => {
    const id = await jobIn(service, 'running', 'edge');
    expect((await service.call('POST', `/jobs/${id}/progress`, { body })).status).toBe(200);
    expect((await service.call('GET', `/jobs/${id}/progress`)).body.progress).toEqual(body);
  });

  it.each([
    ['2030-01-01T00:00:00Z', '2030-01-01T00:00:00.000Z'],
    ['2030-01-01T02:00:00.123456+02:00', '2030-01-01T00:00:00.123Z'],
    ['2028-02-29T12:00:00-00:30', '2028-02-29T12:30:00.000Z'],
    [null, null],
  ])('keys takes the end %s and gives it in UTC', async (expiresAt, shown) => {
    const { status, body } = await send('keys', { body: { ...reader, expiresAt } });
    expect({ status, expiresAt: body.expiresAt }).toEqual({ status: 201, expiresAt: shown });
    await service.call('DELETE', `/keys/${body.id}`);
  });
});

describe('an identifier in the path', () => {
  it.each(['a%20b', 'a%2Fb', ...NUL, '%C3%A9', 'a+b', 'a;b', '*', 'x'.repeat(129), 'a%0A'])(
    'refuses the space %s at each of its endpoints',
    async (spaceId) => {
      const refusal = invalid(`spaceId ${SPACE_ID}`);
      expectRefusal(await service.call('POST', `/spaces/${spaceId}/jobs`, { body: named }), refusal);
      expectRefusal(await service.call('POST', `/spaces/${spaceId}/jobs/poll`), refusal);
      expectRefusal(await service.call('GET', `/spaces/${spaceId}/jobs`), refusal);
    },
  );

  it.each(['A.b_c:d-9', '...', 'x'.repeat(128), '%41'])('takes the space %s', async (spaceId) => {
    const { status, body } = await service.call('POST', `/spaces/${spaceId}/jobs`, { body: named });
    expect({ status, spaceId: body.spaceId }).toEqual({ status: 201, spaceId: decodeURIComponent(spaceId) });
  });

  const ids: [what: string, idFrom: (id: string) => string][] = [
    ['of one character', () => '0'],
    ['of dots', () => '...'],
    ...NUL.map((byte) => ['of a NUL byte', () => byte] as [string, () => string]),
    ['of a line feed', () => '%0A'],
    ['of a star', () => '*'],
    ['of 2 000 characters', () => 'x'.repeat(2_000)],
    ['of another key', () => '%7Bkeys%7D:records'],
    ['that every object has', () => '__proto__'],
    ['of an emoji', () => '%F0%9F%9A%82'],
    ['that is that of the job in capitals', (id) => id.toUpperCase()],
    ['that is that of the job and a space', (id) => `${id}%20`],
    ['that is that of the job and a line feed', (id) => `${id}%0A`],
    ['that is that of an event of the job', (id) => `${id}.1`],
    ['that leads to the history of the job', (id) => `${id}:events`],
  ];

  it.each(ids)('finds no job by an id %s', async (_, idFrom) => {
    const id = idFrom(jobId);
    const missing = { status: 404, code: 'JOB_NOT_FOUND', error: 'Job not found' };
    expectRefusal(await service.call('GET', `/jobs/${id}`), missing);
    expectRefusal(await service.call('GET', `/jobs/${id}/progress`), missing);
    expectRefusal(await service.call('POST', `/jobs/${id}/kill`), missing);
  });

  it.each(['0', '...', ...NUL, 'admin', 'x'.repeat(200), '__proto__'])('finds no key %s', async (id) => {
    const missing = { status: 404, code: 'KEY_NOT_FOUND', error: 'Key not found' };
    expectRefusal(await service.call('DELETE', `/keys/${id}`), missing);
  });
});

describe('the query of List', () => {
  const LIMIT = 'limit must be an integer of at least 1';
  const OFFSET = 'offset must be an integer of at least 0';
  const STATUS = 'status must be one of pending, delivered, running, completed, dead, killed';
  const numbers = ['1.5', 'abc', '', '1e2', '0x1', '%2B1', '%201', '1%00', '%EF%BC%91', 'null', '%zz'];

  it.each([
    ...['0', '-1', ...numbers].map((value) => ({ query: `limit=${value}`, error: LIMIT })),
    ...['-1', ...numbers].map((value) => ({ query: `offset=${value}`, error: OFFSET })),
    ...['', 'unknown', 'PENDING', 'pending,dead', '%20pending', '__proto__'].map((value) => ({
      query: `status=${value}`,
      error: STATUS,
    })),
    { query: 'limit=1&limit=1', error: 'limit must be given once' },
    { query: 'offset=1&offset=1', error: 'offset must be given once' },
    { query: 'status=dead&status=dead', error: STATUS },
  ])('refuses $query', async ({ query, error }) => {
    expectRefusal(await service.call('GET', `/spaces/target/jobs?${query}`), invalid(error));
  });

  it('names each of several faults', async () => {
    const error = STATUS;
    const details = [STATUS, LIMIT, OFFSET].map(detailOf);
    const answer = await service.call('GET', '/spaces/target/jobs?status=x&limit=x&offset=x');
    expectRefusal(answer, { ...invalid(error), details });
  });

  it.each(
    ['unknown=1', 'limit[]=x', '__proto__=1', '&&=&', 'offset=99999999999999999999', `offset=${'9'.repeat(400)}`].map(
      (query) => ({ query, title: short(query) }),
    ),
  )('takes $title', async ({ query }) => {
    expect((await service.call('GET', `/spaces/target/jobs?${query}`)).status).toBe(200);
  });
});

describe('numbers above the maximum', () => {
  const lengthOfList = async (query: string) => (await service.call('GET', `/spaces/crowd/jobs${query}`)).body.length;
  const lengthOfPoll = async (options: CallOptions) =>
    (await service.call('POST', '/spaces/crowd/jobs/poll', options)).body.jobs?.length;

  beforeAll(async () => {
    await Promise.all(Array.from({ length: 310 }, () => createJob(service, 'crowd')));
  });

  it.each(
    [
      { query: '', served: 50 },
      { query: '?limit=100', served: 100 },
      { query: '?limit=101', served: 100 },
      { query: '?limit=1000', served: 100 },
      { query: '?limit=99999999999999999999', served: 100 },
      { query: `?limit=${'9'.repeat(400)}`, served: 100 },
      { query: '?limit=100&offset=305', served: 5 },
    ].map((row) => ({ ...row, title: short(row.query) })),
  )('List serves $served for "$title"', async ({ query, served }) => {
    expect(await lengthOfList(query)).toBe(served);
  });

  it.each([
    { raw: '{}', served: 1 },
    { raw: '{"count":50}', served: 50 },
    { raw: '{"count":51}', served: 50 },
    { raw: '{"count":1000}', served: 50 },
    { raw: '{"count":9007199254740992}', served: 50 },
    { raw: '{"count":1e20}', served: 50 },
  ])('Poll serves $served for $raw', async ({ raw, served }) => {
    expect(await lengthOfPoll({ raw })).toBe(served);
  });
});

describe('the filters of Poll', () => {
  const NAMES = ['a', 'b', 'c', 'd'];
  const rows: { filter: object; gives: string[] }[] = [
    { filter: {}, gives: NAMES },
    { filter: { type: [] }, gives: NAMES },
    { filter: { types: [] }, gives: NAMES },
    { filter: { name: [] }, gives: NAMES },
    { filter: { names: [] }, gives: NAMES },
    { filter: { types: ['a'], type: 'b', names: ['c'], name: 'd' }, gives: ['a'] },
    { filter: { name: 'd', names: ['c'], type: 'b', types: ['a'] }, gives: ['a'] },
    { filter: { type: 'b', names: ['c'], name: 'd' }, gives: ['b'] },
    { filter: { type: ['b', 'a'], names: ['c'], name: 'd' }, gives: ['a', 'b'] },
    { filter: { names: ['c'], name: 'd' }, gives: ['c'] },
    { filter: { name: 'd' }, gives: ['d'] },
    { filter: { name: ['d', 'a', 'd'] }, gives: ['a', 'd'] },
    { filter: { types: ['z'], type: 'a' }, gives: [] },
    { filter: { type: 'A' }, gives: [] },
  ];

  const cases = rows.map((row, i) => ({ ...row, spaceId: `filters-${i}`, title: short(row.filter) }));

  it.each(cases)('$title gives $gives', async ({ filter, gives, spaceId }) => {
    for (const name of NAMES) await createJob(service, spaceId, { name });
    const { body } = await service.call('POST', `/spaces/${spaceId}/jobs/poll`, { body: { count: 50, ...filter } });
    expect(body.jobs.map((job: { name: string }) => job.name)).toEqual(gives);
  });
});

describe('after all of this', () => {
  it('nothing was stored by what was refused', async () => {
    expect(await stored()).toEqual(before);
  });

  it('the service still works', async () => {
    const { id } = await createJob(service, 'works');
    const polled = await service.call('POST', '/spaces/works/jobs/poll');
    expect(polled.body.jobs).toMatchObject([{ id }]);
    await service.call('POST', `/jobs/${id}/ack`);
    await service.call('POST', `/jobs/${id}/complete`, { body: { result: 'well' } });
    expect((await service.call('GET', `/jobs/${id}`)).body).toMatchObject({ status: 'completed', result: 'well' });
  });
});
