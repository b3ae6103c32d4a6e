import { beforeAll, describe, expect, it } from '@jest/globals';
import type { CallOptions } from '../support/http.js';
import { createJob } from '../support/jobs.js';
import { withService } from '../support/service.js';
import {
  appendOk,
  asNdjson,
  expectRefused,
  FORMAT_NAMES,
  FORMATS,
  type Format,
  gzipped,
  invalid,
  logsKey,
  type Refusal,
  written,
} from './entries.js';

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
const NO_LEVEL = ['"Warning"', '"INFO"', '" info"', '""', '"__proto__"', '2', 'null', 'true', '["info"]', '{}'];
const NO_TIMESTAMP = [
  ...['""', '"yesterday"', '"2024-02-29"', '"2024-02-29T12:00:00"', '"2024-02-29T12:00:00 +02:00"'],
  ...['"2024-02-29T12:00:00+25:00"', '"2024-02-30T12:00:00Z"', '"2023-02-29T12:00:00Z"', '"2024-13-01T12:00:00Z"'],
  ...['"2024-02-29T24:00:01Z"', '"2024-02-29T12:60:00Z"', '"+010000-01-01T00:00:00Z"', '"20240229T120000Z"'],
  ...['" 2024-02-29T12:00:00Z"', '"2024-02-29T12:00:00Z\\n"', '"1709208000000"', '1709208000000', 'null', '{}'],
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
  ...faultsIn('source', STRING, NO_STRING),
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

// Contract §2: path, key, scope, body, and then the job.
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

  it('refuses a batch of logs for the first fault in the order path, key, scope, body, job', async () => {
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

it('gives the first log entry of a job seq 1 after refused batches', async () => {
  await appendOk(service, id, ['first']);
});
