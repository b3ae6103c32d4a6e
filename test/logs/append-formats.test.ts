import http from 'node:http';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { redisNow } from '@yardmaster/store';
import { createJob } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { until } from '../support/until.js';
import {
  append,
  appended,
  appendOk,
  asJson,
  asNdjson,
  asRead,
  type Batch,
  type Entry,
  entriesOf,
  FORMATS,
  FORMS,
  gzipped,
  LEVELS,
  written,
} from './entries.js';
import { messagesOf, readLogs, readPage } from './reading.js';

const service = withService();

let id: string;
/** Seq of the next entry. */
let next = 1;
beforeAll(async () => {
  id = (await createJob(service, 'formats')).id;
});

/** Expect that a batch is stored as these entries. */
async function expectStored(batch: Batch, entries: Parameters<typeof asRead>[1]): Promise<void> {
  const response = await append(service, id, batch);
  expect(response).toMatchObject(appended(entries.length, next));
  expect(Object.keys(response.body)).toEqual(['success', 'inserted', 'fromSeq', 'toSeq']);
  await expectRead(entries);
}

/** Expect these entries after all earlier ones. */
async function expectRead(entries: Parameters<typeof asRead>[1]): Promise<void> {
  const logs = await readLogs(service, id, next - 1);
  expect(logs).toEqual(asRead(id, entries, logs, next));
  next += entries.length;
}

/** Send a batch in chunks of this many bytes, each after the previous one was written. */
function appendInChunks({ raw, headers }: Batch, size: number): Promise<number | undefined> {
  const bytes = Buffer.from(raw as Buffer);
  return new Promise((resolve, reject) => {
    const request = http.request(`${service.url}/api/v1/jobs/${id}/logs`, {
      method: 'POST',
      headers: { 'x-api-key': ADMIN_KEY, ...headers },
      agent: false,
    });
    request.on('error', reject);
    request.on('response', (response) => response.resume().on('end', () => resolve(response.statusCode)));
    const send = (from: number) => {
      if (from >= bytes.length) request.end();
      else request.write(bytes.subarray(from, from + size), () => send(from + size));
    };
    send(0);
  });
}

describe.each(FORMS)('appending logs as $form', ({ write }) => {
  it.each([1, 7, 1_000])('stores a batch of %i log entries as sent, after the earlier entries', async (count) => {
    await expectStored(write(entriesOf(count)), entriesOf(count));
  });

  it.each([
    // A chunk of one byte ends within characters, escapes, line ends and the header of gzip.
    { size: 1, entries: ['größer 🚂', { message: 'a\r\nb', source: '日本' }] },
    { size: 1_001, entries: entriesOf(300) },
  ])('stores a batch of logs that arrives in chunks of $size bytes', async ({ size, entries }) => {
    expect(await appendInChunks(write(entries), size)).toBe(200);
    await expectRead(entries);
  });
});

describe('appending one log entry', () => {
  const text = '{"message":"größer 🚂"}';
  const array = `[${text}]`;
  const typed = (raw: string, type: string): Batch => ({ raw, headers: { 'content-type': type } });
  const encoded = (encoding: string): Batch => ({ raw: gzipSync(array), headers: { 'content-encoding': encoding } });
  const extra = '{"more":1,"__proto__":{"logs":[]},"logs":[{"message":"größer 🚂","seq":9,"id":"x","createdAt":5}]}';

  it.each<[what: string, batch: Batch]>([
    ['application/ndjson', typed(text, 'application/ndjson')],
    ['APPLICATION/X-NDJSON', typed(text, 'APPLICATION/X-NDJSON')],
    ['NDJSON with a charset', typed(text, 'application/x-ndjson; charset=utf-8')],
    ['NDJSON with a charset in quotes', typed(text, 'application/ndjson;charset="UTF-8"')],
    ['NDJSON with another parameter', typed(text, 'application/x-ndjson; profile=worker')],
    ['Application/JSON with a charset', typed(array, 'Application/JSON; charset=utf-8')],
    ['JSON with white space around', typed(` \r\n\t${array}\n`, 'application/json')],
    ['JSON with unknown fields', asJson(extra)],
    ['JSON in chunks', { raw: array, headers: { 'content-length': undefined, 'transfer-encoding': 'chunked' } }],
    ['gzip of NDJSON', gzipped(typed(text, 'application/ndjson; charset=utf-8'))],
    ['GZIP', encoded('GZIP')],
    ['identity', { raw: array, headers: { 'content-encoding': 'identity' } }],
    ['nothing', { raw: array, headers: { 'content-encoding': '' } }],
    ['X-GZIP', encoded('X-GZIP')],
    ['identity, gzip', encoded('identity, gzip')],
    ['gzip of two members', { ...encoded('gzip'), raw: Buffer.concat([gzipSync('['), gzipSync(`${text}]`)]) }],
    ['gzip that is stored, not deflated', { ...encoded('gzip'), raw: gzipSync(array, { level: 0 }) }],
  ])('accepts one log entry as %s', async (_, batch) => {
    await expectStored(batch, ['größer 🚂']);
  });
});

it.each([
  ['line feeds', '"a"\n"b"'],
  ['a line feed at the end', '"a"\n"b"\n'],
  ['CRLF', '"a"\r\n"b"\r\n'],
  ['blank lines before, between and after', '\n\n"a"\n\n\n"b"\n\n'],
  ['blank lines of CRLF', '\r\n"a"\r\n\r\n"b"\r\n\r\n'],
  ['lines of white space', '  \n"a"\n\t \n"b"\n '],
  ['white space around its entries', '  "a"\t\n\t{ "message" : "b" } '],
])('accepts NDJSON logs with %s', async (_, raw) => {
  await expectStored(asNdjson(raw), ['a', 'b']);
});

it('ends lines of NDJSON logs only at line feeds', async () => {
  // JSON escapes the last three; the line contains the others unchanged.
  const messages = ['a\u2028b', 'a\u2029b', 'a\u0085b', 'a\u000bb', 'a\nb', 'a\r\nb'];
  await expectStored(written('NDJSON', messages), messages);
});

it('accepts 1,000 NDJSON log entries with any number of blank lines', async () => {
  const entries = entriesOf(1_000);
  await expectStored(asNdjson(entries.map((entry) => `${JSON.stringify(entry)}\n\n\n`).join('')), entries);
});

/** Append one entry of JSON text in every format, and read it. */
async function roundTrip(text: string) {
  const { newestSeq } = (await readPage(service, id)).cursor;
  const formats = Object.values(FORMATS);
  for (const [n, format] of formats.entries())
    expect(await append(service, id, format([text]))).toMatchObject(appended(1, newestSeq + n + 1));
  const logs = await readLogs(service, id, newestSeq);
  expect(logs).toHaveLength(formats.length);
  return logs;
}

/** Write a value as text: unlike toEqual, a comparison of texts notices key order and `__proto__`. */
const asText = (value: unknown) => JSON.stringify(value);
const objects = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
const arrays = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

it.each([
  ['an empty object', '{}'],
  ['empty arrays and objects', '{"a":[],"b":{},"c":[[],{},[{}],[[]]],"d":{"e":{},"f":[]}}'],
  ['null and booleans', '{"a":null,"b":[null,{"c":null}],"d":true,"e":[false]}'],
  ['keys that are not sorted', '{"z":1,"a":2,"M":3,"b":{"y":1,"x":2},"":4}'],
  ['keys that are numbers', '{"b":1,"10":2,"9":3,"a":4,"01":5,"-1":6}'],
  ['a repeated key', '{"a":1,"b":2,"a":3}'],
  [
    'property names of every object',
    '{"__proto__":{"a":1},"constructor":1,"toString":2,"hasOwnProperty":null,"valueOf":[]}',
  ],
  ['__proto__ deep inside', '{"a":[{"__proto__":null},{"__proto__":{"__proto__":[]}}]}'],
  ['names of an entry', '{"message":1,"level":"warning","seq":0,"length":1,"toJSON":"no","then":1}'],
  ['words of Unicode', '{"größe":"naïve","日本":"語","🚂":"👩‍👩‍👧 𝒳"}'],
  ['lone surrogates', '{"\\ud800":"a\\udfffb","x":"\\ud83d"}'],
  ['U+0000 and line separators', '{"\\u0000":"a\\u0000b","\u2028":"\u2029"}'],
  ['integers beyond the precision of a double', '{"a":[9007199254740991,9007199254740993,12345678901234567890]}'],
  ['-0', '{"a":-0,"b":[-0.0]}'],
  ['1e20 and its neighbours', '{"a":[1e20,1e21,1E+22,100000000000000000000,1e-6,1e-7]}'],
  ['the limits of a double', '{"a":[1.7976931348623157e308,5e-324,-1.7976931348623157e308,1e-400]}'],
  ['decimals', '{"a":[0.1,0.30000000000000004,1.0,3.14159265358979323846,-2.5]}'],
  ['many numbers', asText({ a: Array.from({ length: 2_000 }, (_, i) => i) })],
  ['objects of 64 levels', objects(64)],
  ['arrays up to level 64', `{"a":${arrays(63)}}`],
])('returns the metadata of a log entry as it was sent: %s', async (_, metadata) => {
  const logs = await roundTrip(`{"message":"m","metadata":${metadata}}`);
  for (const log of logs) expect(asText(log.metadata)).toBe(asText(JSON.parse(metadata)));
});

it.each([
  ['the empty string', '""'],
  ['blanks', '"  "'],
  ['a word', '"text"'],
  ['the default source', '"worker"'],
  ['JSON', '"{\\"message\\":[1]}"'],
  ['null', '"null"'],
  ['escapes', '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9 a\\r\\nb"'],
  ['control characters', asText(Array.from({ length: 33 }, (_, i) => String.fromCharCode(i)).join(''))],
  ['colors of a terminal', '"\\u001b[31mred\\u001b[0m"'],
  ['line separators', '"\u2028 \u2029"'],
  ['a byte order mark', '"\ufeffa\ufeff"'],
  ['noncharacters of Unicode', '"\\ufffe\\uffff\\ufffd"'],
  ['astral and combining characters', '"👩‍👩‍👧 𝒳 \\ud83d\\ude82 e\u0301\u00e9"'],
  ['lone surrogates', '"\\ud800 a\\udfffb \\ud83d"'],
  ['surrogates in the wrong order', '"\\ude82\\ud83d"'],
  ['8 000 characters', asText('abcdefgh'.repeat(1_000))],
])('returns message and source of a log entry as they were sent: %s', async (_, text) => {
  const value = JSON.parse(text).toWellFormed(); // Lone surrogates become U+FFFD.
  const logs = [
    ...(await roundTrip(text)),
    ...(await roundTrip(`{"message":${text}}`)),
    ...(await roundTrip(`{"message":${text},"source":${text}}`)),
  ];
  expect(messagesOf(logs)).toEqual(Array(9).fill(value));
  expect(logs.map(({ source }) => source)).toEqual([...Array(6).fill('worker'), ...Array(3).fill(value)]);
});

it.each([
  ['warning', 'warn'],
  ['critical', 'fatal'],
  ['CRITICAL', 'fatal'],
  ['Warning', 'warn'],
  ['INFO', 'info'],
])('returns the log level %s as its synonym %s', async (sent, shown) => {
  for (const log of await roundTrip(asText({ message: 'm', level: sent }))) expect(log.level).toBe(shown);
});

it('treats null as absent in a log entry', async () => {
  const nulls = { level: null, timestamp: null, source: null, metadata: null };
  for (const log of await roundTrip(asText({ message: 'm', ...nulls })))
    expect(log).toMatchObject({ level: 'info', source: 'worker', metadata: {}, loggedAt: log.createdAt });
});

it.each(LEVELS)('returns the log level %s as it was sent', async (level) => {
  for (const log of await roundTrip(asText({ message: 'm', level }))) expect(log.level).toBe(level);
});

it.each([
  ['2024-02-29T23:59:59.999Z', '2024-02-29T23:59:59.999Z'],
  ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000Z'],
  ['2024-02-29T12:00:00.5Z', '2024-02-29T12:00:00.500Z'],
  ['2024-02-29T12:00:00.123456789Z', '2024-02-29T12:00:00.123Z'],
  ['2024-02-29T23:59:59.9999Z', '2024-02-29T23:59:59.999Z'],
  ['2024-02-29T12:00:00+02:00', '2024-02-29T10:00:00.000Z'],
  ['2024-01-01T00:30:00.250+05:45', '2023-12-31T18:45:00.250Z'],
  ['2024-12-31T23:30:00-09:30', '2025-01-01T09:00:00.000Z'],
  ['2024-02-29T12:00:00-00:00', '2024-02-29T12:00:00.000Z'],
  // Forms that strftime, Python's str(datetime) and others write.
  ['2024-02-29T12:00:00+0200', '2024-02-29T10:00:00.000Z'],
  ['2024-02-29T12:00:00+02', '2024-02-29T10:00:00.000Z'],
  ['2024-02-29 12:00:00.5+02:00', '2024-02-29T10:00:00.500Z'],
  ['2024-02-29T12:00Z', '2024-02-29T12:00:00.000Z'],
  ['2024-02-29t12:00:00,784z', '2024-02-29T12:00:00.784Z'],
  ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
  ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
  ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
])(
  'accepts %s as the timestamp of a log entry and returns %s, separately from the time of storage',
  async (timestamp, loggedAt) => {
    for (const log of await roundTrip(asText({ message: 'm', timestamp }))) {
      expect(log.loggedAt).toBe(loggedAt);
      expect(log.createdAt).not.toBe(loggedAt);
    }
  },
);

it('takes the time of storage from the clock of Redis, once per batch of logs', async () => {
  const job = (await createJob(service, 'values')).id;
  const before = await redisNow(service.store);
  await appendOk(service, job, entriesOf(1_000));
  const after = await redisNow(service.store);

  const logs = await readLogs(service, job);
  const createdAt = logs[0]?.createdAt as string;
  expect(createdAt).toBe(new Date(createdAt).toISOString());
  expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before);
  expect(Date.parse(createdAt)).toBeLessThanOrEqual(after);
  expect(logs).toEqual(asRead(job, entriesOf(1_000), logs));
});

it('stores each batch of logs with its own time of storage', async () => {
  const job = (await createJob(service, 'values')).id;
  await appendOk(service, job, ['early']);
  const [early] = await readLogs(service, job);
  const sent: Entry[] = ['late', { message: 'dated', timestamp: '2024-01-01T00:00:00Z' }];
  // Two batches within the same millisecond would have the same time.
  await until(async () => (await redisNow(service.store)) > Date.parse(early?.createdAt as string));
  await appendOk(service, job, sent, 2);

  const late = await readLogs(service, job, 1);
  expect(late).toEqual(asRead(job, sent, late, 2));
  expect(Date.parse(late[0]?.createdAt as string)).toBeGreaterThan(Date.parse(early?.createdAt as string));
});

it('returns a page of logs and its entries with the field names of the specification, in its order', async () => {
  const page = await readPage(service, id, { limit: 1 });
  expect(Object.keys(page)).toEqual(['logs', 'cursor']);
  expect(Object.keys(page.cursor)).toEqual(['mode', 'oldestSeq', 'newestSeq', 'hasMore']);
  const names = ['id', 'seq', 'level', 'message', 'source', 'metadata', 'loggedAt', 'createdAt'];
  expect(Object.keys(page.logs[0] as object)).toEqual(names);
});
