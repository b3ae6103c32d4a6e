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
  gzipped,
  invalid,
  type Refusal,
  tooLarge,
  unsupported,
  written,
} from './entries.js';
import { messagesOf, readLogs } from './reading.js';

const service = withService();

let id: string;
beforeAll(async () => {
  id = (await createJob(service, 'bodies')).id;
});

const refuses = (batch: CallOptions, refusal: Refusal) => expectRefused(service, id, batch, refusal);

const NONE = invalid('logs must have at least one entry');
const NO_JSON = ['["a",]', '[,"a"]', '["a"]["b"]', '["a"}', '["a', '{"logs":["a"', '{"logs":["a"]]', '{"logs" ["a"]}'];

it.each<[error: string, bodies: string[]]>([
  ['body must be an array of entries, or an object with logs', ['null', '5', 'true', '"a line"', '""']],
  ['logs is required', ['{}', '{"log":["a"]}', '{"message":"a"}', '{"__proto__":{"logs":["a"]}}']],
  ['logs must be an array', ['{"logs":null}', '{"logs":"a"}', '{"logs":{"0":"a","length":1}}', '{"logs":5}']],
  ['logs must have at least one entry', ['[]', ' [ ] ', '{"logs":[]}']],
  ['logs must appear exactly once', ['{"logs":["a"],"logs":["b"]}']],
  ['body must be valid JSON', [...NO_JSON, '[', 'nope', ' \n', '\0', '"a"\n"b"', '"a', '{"x":nope,"logs":["a"]}']],
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
  const other = (await createJob(service, 'bodies')).id;
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
    ['x-gzip', gzipSync('["a"]')],
    ['gzip, gzip', gzipSync(gzipSync('["a"]'))],
    ['identity, gzip', gzipSync('["a"]')],
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

it('gives the first log entry of a job seq 1 after refused bodies', async () => {
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
