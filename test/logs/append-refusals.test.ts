import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { startService, type TestService } from '../support/service.js';
import { FORMAT_NAMES, FORMATS, type Format, gzipped } from './entries.js';
import { expectRefused, invalid } from './refusals.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** What an entry, or a field of it, is called in a refusal. */
function nameOf(format: Format, index: number, field: string): string {
  if (format !== 'NDJSON') return `logs[${index}]${field === '' ? '' : `.${field}`}`;
  return `line ${index + 1}${field === '' ? '' : `: ${field}`}`;
}

const detailOf = (format: Format, index: number, { field, rule }: Fault) => {
  const path = nameOf(format, index, field);
  return { path, message: `${path} ${rule}` };
};

interface Fault {
  /** The entry, as JSON text. */
  text: string;
  /** '' for the entry itself. */
  field: string;
  rule: string;
}

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const faultsIn = (field: string, rule: string, values: string[]): Fault[] =>
  values.map((value) => ({ text: `{"message":"m","${field}":${value}}`, field, rule }));

const ENTRY = 'must be a string or an object';
const STRING = 'must be a string';
const LEVEL = 'must be one of trace, debug, info, warn, error, fatal';
const TIMESTAMP = 'must be an ISO 8601 timestamp with a time zone';
const DEEP = 'must not nest deeper than 64 levels';
const BEYOND = 'must not contain a number beyond the range of a double';

const FAULTS: Fault[] = [
  ...['nope', 'NaN', "'a'", '01', 'tru', '"a\tb"', '"\\x"', '"a" "b"', '{"message":}', '{message:"m"}', '\0'].map(
    (text) => ({
      text,
      field: '',
      rule: 'must be valid JSON',
    }),
  ),
  ...['null', '5', '0', 'true', 'false', '[]', '["a"]', '1e400'].map((text) => ({ text, field: '', rule: ENTRY })),
  ...['{}', '{"level":"info"}', '{"Message":"m"}', '{"__proto__":{"message":"m"}}'].map((text) => ({
    text,
    field: 'message',
    rule: 'is required',
  })),
  ...['null', '5', 'true', '[]', '["m"]', '{}'].map((value) => ({
    text: `{"message":${value}}`,
    field: 'message',
    rule: STRING,
  })),
  ...faultsIn('level', LEVEL, [
    '"warning"',
    '"INFO"',
    '" info"',
    '""',
    '"__proto__"',
    '"constructor"',
    '2',
    'null',
    'true',
    '["info"]',
    '{}',
  ]),
  ...faultsIn('timestamp', TIMESTAMP, [
    '""',
    '"yesterday"',
    '"2024-02-29"',
    '"2024-02-29T12:00:00"',
    '"2024-02-29T12:00:00 +02:00"',
    '"2024-02-29T12:00:00+25:00"',
    '"2024-02-30T12:00:00Z"',
    '"2023-02-29T12:00:00Z"',
    '"2024-13-01T12:00:00Z"',
    '"2024-02-29T24:00:01Z"',
    '"2024-02-29T12:60:00Z"',
    '"+010000-01-01T00:00:00Z"',
    '"20240229T120000Z"',
    '" 2024-02-29T12:00:00Z"',
    '"2024-02-29T12:00:00Z\\n"',
    '"1709208000000"',
    '1709208000000',
    'null',
    '{}',
  ]),
  ...faultsIn('timestamp', 'must be within the years 0000 to 9999', [
    '"9999-12-31T23:59:59.999-00:01"',
    '"0000-01-01T00:00:00+00:01"',
  ]),
  ...faultsIn('source', STRING, ['null', '5', 'false', '["worker"]', '{}']),
  ...faultsIn('metadata', 'must be an object', ['null', '5', '"text"', 'true', '[]', '[{}]']),
  ...faultsIn('metadata', DEEP, [`{"a":${nested(64)}}`, `{"a":${nested(8_000)}}`]),
  ...faultsIn('metadata', BEYOND, ['{"a":1e400}', '{"a":[-1e400]}', `{"a":${'9'.repeat(400)}}`]),
];

const short = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

describe.each(FORMAT_NAMES)('%s refuses, wherever it stands,', (format) => {
  it.each(FAULTS.map((fault) => ({ ...fault, title: short(fault.text) })))('$title', async ({ text, field, rule }) => {
    for (const index of [0, 3, 6]) {
      const texts = Array.from({ length: 7 }, (_, n) => (n === index ? text : `"line ${n}"`));
      await expectRefused(service, FORMATS[format](texts), invalid(`${nameOf(format, index, field)} ${rule}`));
    }
  });

  it('the only entry', async () => {
    await expectRefused(service, FORMATS[format](['5']), invalid(`${nameOf(format, 0, '')} ${ENTRY}`));
  });

  it('the last of 1 000 entries, gzipped', async () => {
    const texts = [...Array<string>(999).fill('"fine"'), '{"message":5}'];
    const refusal = invalid(`${nameOf(format, 999, 'message')} ${STRING}`);
    await expectRefused(service, gzipped(FORMATS[format](texts)), refusal);
  });

  it('several faults, and tells each', async () => {
    const texts = ['"fine"', '{"message":5,"level":"loud","metadata":[]}', '"fine"', 'null', '{"source":5}'];
    const faults: [index: number, field: string, rule: string][] = [
      [1, 'message', STRING],
      [1, 'level', LEVEL],
      [1, 'metadata', 'must be an object'],
      [3, '', ENTRY],
      [4, 'message', 'is required'],
      [4, 'source', STRING],
    ];
    const details = faults.map(([index, field, rule]) => detailOf(format, index, { text: '', field, rule }));
    const refusal = { ...invalid(details[0]?.message as string), details };
    await expectRefused(service, FORMATS[format](texts), refusal);
  });

  it('1 000 faults, and tells the first 20', async () => {
    const texts = Array<string>(1_000).fill('{"message":5}');
    const details = Array.from({ length: 20 }, (_, index) =>
      detailOf(format, index, { text: '', field: 'message', rule: STRING }),
    );
    const refusal = { ...invalid(details[0]?.message as string), details };
    await expectRefused(service, FORMATS[format](texts), refusal);
  });
});
