import { beforeAll, expect, it } from '@jest/globals';
import { redisNow } from '@yardmaster/store';
import { createJob } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { append, appended, appendOk, asRead, type Entry, entriesOf, FORMATS, LEVELS } from './entries.js';
import { messagesOf, readLogs, readPage } from './reading.js';

const service = withService();

let id: string;
beforeAll(async () => {
  id = (await createJob(service, 'values')).id;
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
  ['colours of a terminal', '"\\u001b[31mred\\u001b[0m"'],
  ['line separators', '"\u2028 \u2029"'],
  ['a byte order mark', '"\ufeffa\ufeff"'],
  ['noncharacters of Unicode', '"\\ufffe\\uffff\\ufffd"'],
  ['astral and combining characters', '"👩‍👩‍👧 𝒳 \\ud83d\\ude82 e\u0301\u00e9"'],
  ['lone surrogates', '"\\ud800 a\\udfffb \\ud83d"'],
  ['surrogates in the wrong order', '"\\ude82\\ud83d"'],
  ['8 000 characters', asText('abcdefgh'.repeat(1_000))],
])('returns message and source of a log entry as they were sent: %s', async (_, text) => {
  const value = JSON.parse(text);
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
])('returns the log level %s as its synonym %s', async (sent, shown) => {
  for (const log of await roundTrip(asText({ message: 'm', level: sent }))) expect(log.level).toBe(shown);
});

it('returns null as the metadata of a log entry as an empty object', async () => {
  for (const log of await roundTrip(asText({ message: 'm', metadata: null }))) expect(log.metadata).toEqual({});
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
  'accepts %s as the timestamp of a log entry and returns %s, separate from the time of storage',
  async (timestamp, loggedAt) => {
    for (const log of await roundTrip(asText({ message: 'm', timestamp }))) {
      expect(log.loggedAt).toBe(loggedAt);
      expect(log.createdAt).not.toBe(loggedAt);
    }
  },
);

it('takes the time of storage of logs from the clock of Redis, once for a whole batch', async () => {
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
