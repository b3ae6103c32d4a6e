import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { CallOptions } from '../support/http.js';
import { createJob } from '../support/jobs.js';
import { Random } from '../support/random.js';
import { withService } from '../support/service.js';
import {
  append,
  appended,
  appendOk,
  asJson,
  asNdjson,
  entriesOf,
  expectRefused,
  FORMAT_NAMES,
  FORMATS,
  type Format,
  gzipped,
  invalid,
  logsKey,
  type Refusal,
  tooLarge,
  unsupported,
  written,
} from './entries.js';
import { messagesOf, readLogs } from './reading.js';

const service = withService();

let id: string;
beforeAll(async () => {
  id = (await createJob(service, 'refusals')).id;
});

const refuses = (batch: CallOptions, refusal: Refusal) => expectRefused(service, id, batch, refusal);

/** Return the name of an entry, or of a field of it, in an error. */
function nameOf(format: Format, index: number, field: string): string {
  if (format !== 'NDJSON') return `logs[${index}]${field === '' ? '' : `.${field}`}`;
  return `line ${index + 1}${field === '' ? '' : `: ${field}`}`;
}

type Fault = [text: string, field: string, rule: string];

const faultsIn = (field: string, rule: string, values: string[]) =>
  values.map((value): Fault => [`{"message":"m","${field}":${value}}`, field, rule]);
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

const NO_JSON = [
  'nope',
  'NaN',
  "'a'",
  '01',
  'tru',
  '"a\tb"',
  '"\\x"',
  '"a" "b"',
  '{"message":}',
  '{message:"m"}',
  '\0',
];
const NO_ENTRY = ['null', '5', '0', 'true', 'false', '[]', '["a"]', '1e400'];
const NO_MESSAGE = ['{}', '{"level":"info"}', '{"Message":"m"}', '{"__proto__":{"message":"m"}}'];
const NO_STRING = ['null', '5', 'true', '[]', '["m"]', '{}'];
const NO_LEVEL = ['"notice"', '" info"', '""', '"__proto__"', '2', 'true', '["info"]', '{}'];
const NO_TIMESTAMP = [
  ...['""', '"yesterday"', '"2024-02-29"', '"2024-02-29T12:00:00"', '"2024-02-29T12:00:00 +02:00"'],
  ...['"2024-02-29T12:00:00+25:00"', '"2024-02-30T12:00:00Z"', '"2023-02-29T12:00:00Z"', '"2024-13-01T12:00:00Z"'],
  ...['"2024-02-29T24:00:01Z"', '"2024-02-29T12:60:00Z"', '"+010000-01-01T00:00:00Z"', '"2024-0229T12:00:00Z"'],
  ...['" 2024-02-29T12:00:00Z"', '"2024-02-29T12:00:00Z\\n"', '"1709208000000"', '1709208000000', '{}'],
];
const BEYOND_YEARS = ['"9999-12-31T23:59:59.999-00:01"', '"0000-01-01T00:00:00+00:01"'];
const NO_OBJECT = ['5', '"text"', 'true', '[]', '[{}]'];
const TOO_DEEP = [`{"a":${nested(64)}}`, `{"a":${nested(8_000)}}`];
const NO_DOUBLE = ['{"a":1e400}', '{"a":[-1e400]}', `{"a":${'9'.repeat(400)}}`];

const ENTRY = 'must be a string or an object';
const STRING = 'must be a string';
const LEVEL = 'must be one of trace, debug, info, warn, error, fatal';
const OBJECT = 'must be an object';

const FAULTS: Fault[] = [
  ...NO_JSON.map((text): Fault => [text, '', 'must be valid JSON']),
  ...NO_ENTRY.map((text): Fault => [text, '', ENTRY]),
  ...NO_MESSAGE.map((text): Fault => [text, 'message', 'is required']),
  ...NO_STRING.map((value): Fault => [`{"message":${value}}`, 'message', STRING]),
  ...faultsIn('level', LEVEL, NO_LEVEL),
  ...faultsIn('timestamp', 'must be an ISO 8601 timestamp with a time zone', NO_TIMESTAMP),
  ...faultsIn('timestamp', 'must be within the years 0000 to 9999', BEYOND_YEARS),
  ...faultsIn('source', STRING, NO_STRING.slice(1)), // Not null, which counts as absent.
  ...faultsIn('metadata', OBJECT, NO_OBJECT),
  ...faultsIn('metadata', 'must not nest deeper than 64 levels', TOO_DEEP),
  ...faultsIn('metadata', 'must not contain a number beyond the range of a double', NO_DOUBLE),
];

const short = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

describe.each(FORMAT_NAMES)('batch of logs as %s', (format) => {
  const fine = Array<string>(7).fill('"fine"');

  it.each(FAULTS.map((fault, n) => ({ title: short(fault[0]), fault, index: [0, 3, 6][n % 3] as number })))(
    'refuses a batch of logs for the entry $title at index $index',
    async ({ fault: [text, field, rule], index }) => {
      await refuses(FORMATS[format](fine.with(index, text)), invalid(`${nameOf(format, index, field)} ${rule}`));
    },
  );

  it('refuses a batch of logs for its only entry', async () => {
    await refuses(FORMATS[format](['5']), invalid(`${nameOf(format, 0, '')} ${ENTRY}`));
  });

  it('refuses a gzipped batch of logs for the last of 1,000 entries', async () => {
    const texts = [...Array<string>(999).fill('"fine"'), '{"message":5}'];
    await refuses(gzipped(FORMATS[format](texts)), invalid(`${nameOf(format, 999, 'message')} ${STRING}`));
  });

  const several = (faults: [index: number, field: string, rule: string][]) => {
    const details = faults.map(([index, field, rule]) => {
      const path = nameOf(format, index, field);
      return { path, message: `${path} ${rule}` };
    });
    return { ...invalid(details[0]?.message as string), details };
  };

  it('refuses a batch of logs for several entries, with a detail for each fault', async () => {
    const texts = ['"fine"', '{"message":5,"level":"loud","metadata":[]}', '"fine"', 'null', '{"source":5}'];
    const refusal = several([
      [1, 'message', STRING],
      [1, 'level', LEVEL],
      [1, 'metadata', OBJECT],
      [3, '', ENTRY],
      [4, 'message', 'is required'],
      [4, 'source', STRING],
    ]);
    await refuses(FORMATS[format](texts), refusal);
  });

  it('refuses a batch of 1,000 faulty log entries with details of the first 20 faults', async () => {
    const texts = Array<string>(1_000).fill('{"message":5}');
    await refuses(FORMATS[format](texts), several(Array.from({ length: 20 }, (_, n) => [n, 'message', STRING])));
  });
});

it.each([
  ['a word that is not JSON', '"a"\n\nb\n"c"', 3],
  ['two entries on a line', '"a" "b"\n"c"', 1],
  ['a comma between lines', '"a",\n"b"', 1],
  ['an entry that continues on the next line', '"a"\n{"message":\n"b"', 2],
  ['an incomplete line', '"a"\r\n\r\n{"message":"b"', 3],
  ['a carriage return as line end', '"a"\r"b"', 1],
  ['a NUL', '"a"\n\0\n"b"', 2],
])('refuses NDJSON logs for %s, with the number of the line', async (_, raw, line) => {
  await refuses(asNdjson(raw), invalid(`line ${line} must be valid JSON`));
});

it.each([
  ['blank lines', '\n\n"a"\n \n'],
  ['blank lines of CRLF', '\r\n\r\n"a"\r\n\r\n'],
])('refuses NDJSON logs for a field, with the number of the line after %s', async (_, before) => {
  await refuses(asNdjson(`${before}{"message":"m","level":"loud"}\n`), invalid(`line 5: level ${LEVEL}`));
});

it('refuses NDJSON logs for several faults, including lines that are not JSON', async () => {
  const messages = [
    'line 1 must be valid JSON',
    `line 3: level ${LEVEL}`,
    'line 6 must be valid JSON',
    `line 7 ${ENTRY}`,
  ];
  const details = messages.map((message) => ({ path: message.slice(0, message.indexOf(' must')), message }));
  const raw = '{"message":\n\n{"message":"m","level":"loud"}\n"fine"\n\n"b"}\n5';
  await refuses(asNdjson(raw), { ...invalid(messages[0] as string), details });
});

it('refuses a JSON batch that is sent as NDJSON logs', async () => {
  await refuses(asNdjson('["a","b"]'), invalid(`line 1 ${ENTRY}`));
  await refuses(asNdjson('{"logs":["a"]}'), invalid('line 1: message is required'));
});

// Path, key, scope, body, and then the job.
describe('batch of logs with several faults', () => {
  const UNKNOWN = 'aa00000000000000000000000000';
  const WRONG_KEY = `ym_${'a'.repeat(16)}_${'0'.repeat(64)}`;

  /** Invalid bodies, in the order in which their faults are checked. */
  const BAD: CallOptions[] = [
    { raw: 'x'.repeat(1_048_577) },
    { raw: '["a"]', headers: { 'content-type': 'text/plain' } },
    { raw: '[' },
    { raw: '[5]' },
    {},
  ];
  const GOOD: CallOptions[] = [{ raw: '["a"]' }, gzipped(written('NDJSON', ['a']))];

  let key: Record<'all' | 'unscoped' | 'bound', string>;
  beforeAll(async () => {
    key = {
      all: (await service.key(['jobs:event'])).key,
      unscoped: (await service.key(['jobs:read', 'jobs:progress', 'jobs:create'])).key,
      bound: (await service.key(['jobs:event'], { spaceId: 'elsewhere' })).key,
    };
  });

  interface Tries {
    bodies?: CallOptions[];
    keys: (string | undefined)[];
    paths?: string[];
  }

  /** Send every body with every key to every path, and return the distinct outcomes. */
  async function outcomes({ bodies = [...BAD, ...GOOD], keys, paths = [id, UNKNOWN, 'nope'] }: Tries) {
    const different = new Set<string>();
    for (const path of paths)
      for (const apiKey of keys)
        for (const batch of bodies) {
          const { status, body } = await service.call('POST', `/jobs/${path}/logs`, { ...batch, key: apiKey });
          different.add(`${status} ${body.code} ${body.error}`);
        }
    return [...different];
  }

  it('refuses a batch of logs for its first fault in the order path, key, scope, body, job', async () => {
    expect(await outcomes({ keys: [undefined, WRONG_KEY, key.all], paths: [`${id}/more`, `${id}/logs`] })).toEqual([
      '404 NOT_FOUND No such path',
    ]);
    expect(await outcomes({ keys: [undefined, '', WRONG_KEY] })).toEqual([
      '401 UNAUTHENTICATED A valid API key is required',
    ]);
    expect(await outcomes({ keys: [key.unscoped] })).toEqual([expect.stringMatching(/^403 FORBIDDEN .*jobs:event/)]);
    expect(await outcomes({ bodies: BAD, keys: [key.all, key.bound] })).toEqual([
      expect.stringMatching(/^413 TOO_LARGE/),
      expect.stringMatching(/^415 UNSUPPORTED_MEDIA_TYPE/),
      expect.stringMatching(/^400 INVALID_REQUEST body/),
      expect.stringMatching(/^400 INVALID_REQUEST logs\[0\]/),
      expect.stringMatching(/^400 INVALID_REQUEST logs must/),
    ]);
    const paths = [UNKNOWN, 'nope', `${id}x`, id.toUpperCase()];
    expect(await outcomes({ bodies: GOOD, keys: [key.all, key.bound], paths })).toEqual([
      '404 JOB_NOT_FOUND Job not found',
    ]);
    expect(await outcomes({ bodies: GOOD, keys: [key.bound], paths: [id] })).toEqual([
      '403 FORBIDDEN The API key is bound to another space',
    ]);
    for (const job of [id, UNKNOWN]) expect(await service.redis.exists(logsKey(service, job))).toBe(0);
  });
});

const NONE = invalid('logs must have at least one entry');
const NOT_JSON = ['["a",]', '[,"a"]', '["a"]["b"]', '["a"}', '["a', '{"logs":["a"', '{"logs":["a"]]', '{"logs" ["a"]}'];

it.each<[error: string, bodies: string[]]>([
  ['body must be an array of entries, or an object with logs', ['null', '5', 'true', '"a line"', '""']],
  ['logs is required', ['{}', '{"log":["a"]}', '{"message":"a"}', '{"__proto__":{"logs":["a"]}}']],
  ['logs must be an array', ['{"logs":null}', '{"logs":"a"}', '{"logs":{"0":"a","length":1}}', '{"logs":5}']],
  ['logs must have at least one entry', ['[]', ' [ ] ', '{"logs":[]}']],
  ['logs must appear exactly once', ['{"logs":["a"],"logs":["b"]}']],
  ['body must be valid JSON', [...NOT_JSON, '[', 'nope', ' \n', '\0', '"a"\n"b"', '"a', '{"x":nope,"logs":["a"]}']],
])('refuses a JSON body of logs with "%s"', async (error, bodies) => {
  for (const raw of bodies) {
    await refuses(asJson(raw), invalid(error));
    await refuses(gzipped(asJson(raw)), invalid(error));
  }
});

it('refuses a JSON body of logs with more than 100 fields, or with a field larger than an entry', async () => {
  const fields = (count: number) => Array.from({ length: count }, (_, n) => `"field-${n}":${n}`);
  await refuses(asJson(`{${fields(100)},"logs":["a"]}`), invalid('body must have at most 100 fields'));
  const note = asJson(`{"note":"${'x'.repeat(16_384)}","logs":["a"]}`);
  await refuses(note, tooLarge('note must be at most 16384 bytes of JSON'));
  const other = (await createJob(service, 'refusals')).id;
  expect(await append(service, other, asJson(`{${fields(99)},"logs":["a"]}`))).toMatchObject(appended(1));
});

describe('batch of logs without entries', () => {
  const CHUNKS = { 'content-length': undefined, 'transfer-encoding': 'chunked' };
  it.each<[what: string, batch: CallOptions]>([
    ['no body', {}],
    ['an empty body', asJson('')],
    ['an empty body of no type', { raw: '', headers: { 'content-type': undefined } }],
    ['an empty body of another type', { raw: '', headers: { 'content-type': 'text/plain' } }],
    ['no chunks', { raw: '', headers: CHUNKS }],
    ['no chunks of NDJSON', { raw: '', headers: { ...CHUNKS, 'content-type': 'application/x-ndjson' } }],
    ['gzip of nothing', gzipped(asJson(''))],
    ['gzip of nothing as NDJSON', gzipped(asNdjson(''))],
    ...['\n', '\n\n\n', '\r\n', ' \n\t\r\n '].map((raw): [string, CallOptions] => [
      `${JSON.stringify(raw)} as NDJSON`,
      asNdjson(raw),
    ]),
  ])('refuses a batch of logs without entries: %s', async (_, batch) => {
    await refuses(batch, NONE);
  });
});

describe('body of logs', () => {
  const bytes = (text: string) => Buffer.from(text, 'latin1');
  it.each<[what: string, batch: Buffer, as: typeof asJson]>([
    ['in a message', bytes('["a","\xff"]'), asJson],
    ['as a surrogate', bytes('["\xed\xa0\x80"]'), asJson],
    ['truncated at the end', bytes('["a\xe2\x82'), asJson],
    ['as UTF-16', Buffer.from('["ÿ"]', 'utf16le'), asJson],
    ['in the third line', bytes('"a"\n"b"\n"\xc3("\n'), asNdjson],
    ['truncated at the end of a line', bytes('"a"\n"\xf0\x9f\x9a'), asNdjson],
    ['as an overlong line feed', bytes('"a"\xc0\x8a"b"'), asNdjson],
  ])('refuses a body of logs with invalid UTF-8 %s', async (_, raw, as) => {
    await refuses(as(raw), invalid('body must be valid UTF-8'));
    await refuses(gzipped(as(raw)), invalid('body must be valid UTF-8'));
  });
});

describe('body of logs', () => {
  const NO_TYPE = unsupported('Content-Type must be application/json or application/x-ndjson');
  const NO_CHARSET = unsupported('charset must be utf-8');

  it.each<[type: string | undefined, refusal: Refusal]>([
    ...[undefined, '', 'text/plain', 'ndjson', 'application/gzip'].map((type): [typeof type, Refusal] => [
      type,
      NO_TYPE,
    ]),
    ['application/jsonx', NO_TYPE],
    ['application/json-seq', NO_TYPE],
    ['application/x-ndjsonx', NO_TYPE],
    [';application/json', NO_TYPE],
    ['application/json; charset=latin1', NO_CHARSET],
    ['application/x-ndjson;charset=utf-16', NO_CHARSET],
    ['application/ndjson; charset=', NO_CHARSET],
  ])('refuses a body of logs with the Content-Type %s', async (type, refusal) => {
    await refuses({ raw: '["a"]', headers: { 'content-type': type } }, refusal);
  });

  it.each<[encoding: string, raw: Buffer]>([
    ['br', brotliCompressSync('["a"]')],
    ['deflate', deflateSync('["a"]')],
    ['gzip, gzip', gzipSync(gzipSync('["a"]'))],
    ['gzip, br', gzipSync('["a"]')],
    ['*', Buffer.from('["a"]')],
  ])('refuses a body of logs with the Content-Encoding %s', async (encoding, raw) => {
    const refusal = unsupported('Content-Encoding must be gzip or identity');
    await refuses({ raw, headers: { 'content-encoding': encoding } }, refusal);
  });
});

describe('gzip body of logs', () => {
  const BROKEN = invalid('body must be valid gzip');
  const HALF = gzipSync(JSON.stringify(entriesOf(1_000)));

  /** Return a valid stream with other bytes from `at` on, which counts from the end when negative. */
  function patched(at: number, ...bytes: number[]): Buffer {
    const stream = gzipSync('["a"]');
    stream.set(bytes, at < 0 ? stream.length + at : at);
    return stream;
  }

  it.each<[what: string, raw: Buffer | string]>([
    ['JSON', '["a"]'],
    ['a byte', Buffer.from([0x1f])],
    ['zeros', Buffer.alloc(100)],
    ['zlib', deflateSync('["a"]')],
    ['Brotli', brotliCompressSync('["a"]')],
    ['a header and nothing else', gzipSync('["a"]').subarray(0, 10)],
    ['a method other than deflate', patched(2, 7)],
    ['an invalid block', patched(10, 0xff, 0xff)],
    ['a wrong checksum', patched(-8, 0, 0, 0, 0)],
    ['a wrong length', patched(-4, 9, 0, 0, 0)],
    ['a second member that is truncated', Buffer.concat([gzipSync('["a"]'), gzipSync(' ').subarray(0, -3)])],
    ['half of a large batch', HALF.subarray(0, HALF.length / 2)],
  ])('refuses a gzip body of logs that is %s', async (_, raw) => {
    await refuses({ raw, headers: { 'content-encoding': 'gzip' } }, BROKEN);
  });

  it('refuses a gzip body of logs that is truncated at any byte', async () => {
    const { raw, headers } = gzipped(written('NDJSON', entriesOf(20)));
    for (let length = 1; length < raw.length; length++) {
      const { status, body } = await append(service, id, { raw: (raw as Buffer).subarray(0, length), headers });
      expect({ length, status, ...body }).toEqual({ length, ...BROKEN });
    }
  });
});

it('gives the first log entry of a job seq 1 after refused batches', async () => {
  await appendOk(service, id, ['first']);
});

// A batch is split by its brackets before its entries are parsed. Any text must be read as JSON.parse reads it, and
// refused where JSON.parse refuses it.
describe('random batch of logs', () => {
  const TOKENS = ['"a"', '"b"', '"\\""', '"[{,"', '"\\\\"', '{"message":"m"}', '{"message":"}"}', '"é🚂"', ' ', '\n'];
  const JOINTS = [',', ',', ',', ',,', ':', '[', ']', '{', '}', '"', '\\', '1', 'tru', '"logs"', ''];

  /** Draw one of the usual texts with this probability, otherwise any joint. */
  const mostly = (random: Random, likelihood: number, usual: readonly string[]) =>
    random.of(random.chance(likelihood) ? usual : JOINTS);

  /** Draw entries, mostly separated by commas and mostly in correct brackets. */
  function bodyOf(random: Random): string {
    const entries = [mostly(random, 0.9, TOKENS)];
    for (let more = random.below(5); more > 0; more--)
      entries.push(mostly(random, 0.85, [',']), mostly(random, 0.9, TOKENS));
    const list = `[${entries.join('')}${mostly(random, 0.9, [']'])}`;
    if (random.chance(0.5)) return random.of(['', ' ']) + list + mostly(random, 0.9, ['']);
    const other = random.of(['', '', '"x":[{}],', '"x":"]}",', '"logz":["no"],', '"x":nonsense,', '"x",', ',']);
    const key = random.of(random.chance(0.9) ? ['"logs"'] : ['"l\\u006fgs"', 'logs', '"Logs"', '""']);
    return `{${other}${key}:${list}${mostly(random, 0.9, ['}'])}`;
  }

  /** Return the messages of a batch; null if it is invalid. */
  function messagesIn(body: string): string[] | null {
    try {
      const value = JSON.parse(body);
      const messages = (Array.isArray(value) ? value : value.logs).map((entry: string | { message: string }) =>
        typeof entry === 'string' ? entry : entry.message,
      );
      return messages.length > 0 && messages.every((message: unknown) => typeof message === 'string') ? messages : null;
    } catch {
      return null;
    }
  }

  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));
  it(`stores a random batch of logs as JSON.parse reads it, or refuses it: SEED=${seed}`, async () => {
    const random = new Random(seed);
    const job = (await createJob(service, 'grammar')).id;
    const expected: string[] = [];
    let refused = 0;
    for (let n = 0; n < 1_500; n++) {
      const raw = bodyOf(random);
      const messages = messagesIn(raw);
      const { status } = await append(service, job, { raw });
      expect({ raw, status }).toEqual({ raw, status: messages === null ? 400 : 200 });
      expected.push(...(messages ?? []));
      if (messages === null) refused++;
    }
    expect(messagesOf(await readLogs(service, job))).toEqual(expected);
    // Both must happen, otherwise the test proves nothing.
    expect(refused).toBeGreaterThan(150);
    expect(refused).toBeLessThan(1_350);
  });
});
