import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import {
  append,
  appended,
  asJson,
  asNdjson,
  ENCODING_NAMES,
  ENCODINGS,
  FORMAT_NAMES,
  gzipped,
  written,
} from './entries.js';
import { expectRefused, invalid, tooLarge } from './refusals.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const NONE = invalid('logs must have at least one entry');
const NO_BATCH = invalid('body must be an array of entries, or an object with logs');
const NO_ARRAY = invalid('logs must be an array');
const NO_JSON = invalid('body must be valid JSON');

describe('JSON refuses', () => {
  it.each([
    ...['null', '5', 'true', '"a line"', '""'].map((raw) => ({ raw, refusal: NO_BATCH })),
    ...['{}', '{"log":["a"]}', '{"message":"a"}', '{"__proto__":{"logs":["a"]}}'].map((raw) => ({
      raw,
      refusal: invalid('logs is required'),
    })),
    ...['{"logs":null}', '{"logs":"a"}', '{"logs":{"0":"a","length":1}}', '{"logs":5}'].map((raw) => ({
      raw,
      refusal: NO_ARRAY,
    })),
    ...['[]', ' [ ] ', '{"logs":[]}', ''].map((raw) => ({ raw, refusal: NONE })),
    ...['[', '["a",]', '[,"a"]', '["a"]["b"]', '["a"}', '["a', '{"logs":["a"', '{"logs":["a"]]', '{"logs" ["a"]}'].map(
      (raw) => ({ raw, refusal: NO_JSON }),
    ),
    ...['nope', ' \n', '\0', '"a"\n"b"', '"a', '{"x":nope,"logs":["a"]}'].map((raw) => ({ raw, refusal: NO_JSON })),
    { raw: '{"logs":["a"],"logs":["b"]}', refusal: invalid('logs must be given once') },
  ])('$raw', async ({ raw, refusal }) => {
    await expectRefused(service, asJson(raw), refusal);
    if (raw !== '') await expectRefused(service, gzipped(asJson(raw)), refusal);
  });
});

describe('an object with logs refuses', () => {
  it('more than 100 fields', async () => {
    const fields = (count: number) => Array.from({ length: count }, (_, n) => `"field-${n}":${n}`);
    const id = (await createJob(service, 'bodies')).id;
    const batch = asJson(`{${fields(99)},"logs":["a"]}`);
    expect(await append(service, id, batch)).toMatchObject(appended(1));
    await expectRefused(service, asJson(`{${fields(100)},"logs":["a"]}`), invalid('body must have at most 100 fields'));
  });

  it('a field beside them that is larger than an entry may be', async () => {
    const raw = `{"note":"${'x'.repeat(16_384)}","logs":["a"]}`;
    await expectRefused(service, asJson(raw), tooLarge('note must be at most 16384 bytes of JSON'));
  });
});

describe('a batch without a body is refused', () => {
  const chunks = { 'content-length': undefined, 'transfer-encoding': 'chunked' };
  it.each([
    ['as nothing', {}],
    ['as an empty body of no type', { raw: '', headers: { 'content-type': undefined } }],
    ['as an empty body of another type', { raw: '', headers: { 'content-type': 'text/plain' } }],
    ['as chunks of nothing', { raw: '', headers: chunks }],
    ['as chunks of nothing, of NDJSON', { raw: '', headers: { ...chunks, 'content-type': 'application/x-ndjson' } }],
  ])('%s', async (_, batch) => {
    await expectRefused(service, batch, NONE);
  });

  it.each(FORMAT_NAMES)('as %s of nothing, gzipped', async (format) => {
    await expectRefused(service, { ...gzipped({ ...written(format, []), raw: '' }) }, NONE);
  });
});

describe('invalid UTF-8 is refused', () => {
  const bytes = (text: string) => Buffer.from(text, 'latin1');
  it.each<[what: string, batch: Buffer, as: typeof asJson]>([
    ['in a message', bytes('["a","\xff"]'), asJson],
    ['as a surrogate', bytes('["\xed\xa0\x80"]'), asJson],
    ['cut short at the end', bytes('["a\xe2\x82'), asJson],
    ['as UTF-16', Buffer.from('["ÿ"]', 'utf16le'), asJson],
    ['in the third line', bytes('"a"\n"b"\n"\xc3("\n'), asNdjson],
    ['cut short at the end of a line', bytes('"a"\n"\xf0\x9f\x9a'), asNdjson],
    ['as an overlong line feed', bytes('"a"\xc0\x8a"b"'), asNdjson],
  ])('%s', async (_, raw, as) => {
    for (const encoding of ENCODING_NAMES)
      await expectRefused(service, ENCODINGS[encoding](as(raw)), invalid('body must be valid UTF-8'));
  });
});
