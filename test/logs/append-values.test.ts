import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { redisNow } from '@yardmaster/store';
import { createJob } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { append, appended, asRead, type Entry, FORMATS, LEVELS, readLogs, written } from './entries.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const newJob = async () => (await createJob(service, 'values')).id;

/** Append one entry of JSON text in every format, and read what became of it. */
async function roundTrip(text: string) {
  const id = await newJob();
  const formats = Object.values(FORMATS);
  for (const [n, format] of formats.entries())
    expect(await append(service, id, format([text]))).toMatchObject(appended(1, n + 1));
  const logs = await readLogs(service, id);
  expect(logs).toHaveLength(formats.length);
  return logs;
}

/** What JavaScript makes of a text, written again: tells key order and `__proto__` apart, which toEqual does not. */
const asText = (value: unknown) => JSON.stringify(value);
const objects = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
const arrays = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

describe('metadata', () => {
  it.each([
    ['an empty object', '{}'],
    ['empty arrays and objects', '{"a":[],"b":{},"c":[[],{},[{}],[[]]],"d":{"e":{},"f":[]}}'],
    ['null', '{"a":null,"b":[null,{"c":null}]}'],
    ['booleans', '{"a":true,"b":[false]}'],
    ['keys that are not sorted', '{"z":1,"a":2,"M":3,"b":{"y":1,"x":2},"":4}'],
    ['keys that are numbers', '{"b":1,"10":2,"9":3,"a":4,"01":5,"-1":6}'],
    ['a key that is given twice', '{"a":1,"b":2,"a":3}'],
    ['names of every object', '{"__proto__":{"a":1},"constructor":1,"toString":2,"hasOwnProperty":null,"valueOf":[]}'],
    ['only __proto__', '{"__proto__":[]}'],
    ['__proto__ deep inside', '{"a":[{"__proto__":null},{"__proto__":{"__proto__":[]}}]}'],
    ['names of an entry', '{"message":1,"level":"warning","seq":0,"length":1,"toJSON":"no","then":1}'],
    ['words of Unicode', '{"größe":"naïve","日本":"語","🚂":"👩‍👩‍👧 𝒳"}'],
    ['lone surrogates', '{"\\ud800":"a\\udfffb","x":"\\ud83d"}'],
    ['U+0000 and line separators', '{"\\u0000":"a\\u0000b","\u2028":"\u2029"}'],
    ['integers beyond those of a double', '{"a":[9007199254740991,9007199254740993,12345678901234567890]}'],
    ['-0', '{"a":-0,"b":[-0.0]}'],
    ['1e20 and its neighbours', '{"a":[1e20,1e21,1E+22,100000000000000000000,1e-6,1e-7]}'],
    ['the ends of a double', '{"a":[1.7976931348623157e308,5e-324,-1.7976931348623157e308,1e-400]}'],
    ['decimals', '{"a":[0.1,0.30000000000000004,1.0,3.14159265358979323846,-2.5]}'],
    ['many entries', asText({ a: Array.from({ length: 2_000 }, (_, i) => i) })],
    ['objects of 64 levels', objects(64)],
    ['arrays up to level 64', `{"a":${arrays(63)}}`],
  ])('%s reads as it was sent', async (_, metadata) => {
    const logs = await roundTrip(`{"message":"m","metadata":${metadata}}`);
    for (const log of logs) expect(asText(log.metadata)).toBe(asText(JSON.parse(metadata)));
  });
});

const STRINGS: [what: string, text: string][] = [
  ['the empty string', '""'],
  ['blanks', '"  "'],
  ['a word', '"text"'],
  ['JSON', '"{\\"message\\":[1]}"'],
  ['null', '"null"'],
  ['line ends', '"a\\nb\\r\\nc\\rd\\n"'],
  ['escapes', '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9"'],
  ['control characters', asText(Array.from({ length: 33 }, (_, i) => String.fromCharCode(i)).join(''))],
  ['colours of a terminal', '"\\u001b[31mred\\u001b[0m"'],
  ['U+0000', '"a\\u0000b"'],
  ['line separators', '"\u2028 \u2029"'],
  ['a byte order mark', '"\ufeffa\ufeff"'],
  ['characters that are not to be used', '"\\ufffe\\uffff\\ufffd"'],
  ['astral characters', '"👩‍👩‍👧 𝒳 \\ud83d\\ude82"'],
  ['combining characters', '"e\u0301\u00e9"'],
  ['lone surrogates', '"\\ud800 a\\udfffb \\ud83d"'],
  ['surrogates in the wrong order', '"\\ude82\\ud83d"'],
  ['16 000 characters', asText('abcdefgh'.repeat(2_000))],
];

describe('a message and a source', () => {
  it.each(STRINGS)('of %s read as they were sent', async (_, text) => {
    const value = JSON.parse(text);
    for (const { message, source } of await roundTrip(text))
      expect({ message, source }).toEqual({ message: value, source: 'worker' });
    for (const { message } of await roundTrip(`{"message":${text}}`)) expect(message).toBe(value);
    for (const { source } of await roundTrip(`{"message":"m","source":${text}}`)) expect(source).toBe(value);
  });
});

describe('a level', () => {
  it.each(LEVELS)('of %s reads as it was sent', async (level) => {
    for (const log of await roundTrip(asText({ message: 'm', level }))) expect(log.level).toBe(level);
  });
});

describe('a timestamp', () => {
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
    // As strftime, Python's str(datetime) and others write it.
    ['2024-02-29T12:00:00+0200', '2024-02-29T10:00:00.000Z'],
    ['2024-02-29T12:00:00+02', '2024-02-29T10:00:00.000Z'],
    ['2024-02-29 12:00:00.5+02:00', '2024-02-29T10:00:00.500Z'],
    ['2024-02-29T12:00Z', '2024-02-29T12:00:00.000Z'],
    ['2024-02-29t12:00:00,784z', '2024-02-29T12:00:00.784Z'],
    ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s reads as %s, and the time of storage beside it', async (timestamp, loggedAt) => {
    for (const log of await roundTrip(asText({ message: 'm', timestamp }))) {
      expect(log.loggedAt).toBe(loggedAt);
      expect(log.createdAt).not.toBe(loggedAt);
    }
  });
});

describe('the time of storage', () => {
  it("is that of Redis' clock, and the same for a whole batch", async () => {
    const id = await newJob();
    const entries = Array.from({ length: 1_000 }, (_, n) => `line ${n}`);
    const before = await redisNow(service.store);
    expect(await append(service, id, written('NDJSON', entries))).toMatchObject(appended(1_000));
    const after = await redisNow(service.store);

    const logs = await readLogs(service, id);
    const createdAt = logs[0]?.createdAt as string;
    expect(createdAt).toBe(new Date(createdAt).toISOString());
    expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(createdAt)).toBeLessThanOrEqual(after);
    expect(logs).toEqual(asRead(id, entries, createdAt));
  });

  it('is that of its own batch', async () => {
    const id = await newJob();
    await append(service, id, { body: ['early'] });
    const [early] = await readLogs(service, id);
    const sent: Entry[] = ['late', { message: 'dated', timestamp: '2024-01-01T00:00:00Z' }];
    // The clock has milliseconds: two batches within one would tell nothing.
    await until(async () => (await redisNow(service.store)) > Date.parse(early?.createdAt as string));
    await append(service, id, { body: sent });

    const logs = await readLogs(service, id);
    const createdAt = logs[1]?.createdAt as string;
    expect(createdAt > (early?.createdAt as string)).toBe(true);
    expect(logs).toEqual([early, ...asRead(id, sent, createdAt, 2)]);
  });
});
