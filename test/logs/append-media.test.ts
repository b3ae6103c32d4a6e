import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CallOptions } from '../support/http.js';
import { createJob } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { append, appended, entriesOf, FORMAT_NAMES, gzipped, written } from './entries.js';
import { expectRefused, invalid, unsupported } from './refusals.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const newJob = async () => (await createJob(service, 'media')).id;

describe('a type or an encoding that logs do not have is refused:', () => {
  const NOT_A_TYPE = unsupported('Content-Type must be application/json or application/x-ndjson');
  const NOT_A_CHARSET = unsupported('charset must be utf-8');
  const NOT_AN_ENCODING = unsupported('Content-Encoding must be gzip or identity');

  it.each([
    undefined,
    '',
    'text/plain',
    'application/jsonx',
    'application/jsonl',
    'application/json-seq',
    'application/x-ndjsonx',
    'application/x-www-form-urlencoded',
    'application/octet-stream',
    'application/gzip',
    'ndjson',
    ';application/json',
  ])('the type %p', async (type) => {
    await expectRefused(service, { raw: '["a"]', headers: { 'content-type': type } }, NOT_A_TYPE);
  });

  it.each(['application/json; charset=latin1', 'application/x-ndjson;charset=utf-16', 'application/ndjson; charset='])(
    'the type %s',
    async (type) => {
      await expectRefused(service, { raw: '"a"', headers: { 'content-type': type } }, NOT_A_CHARSET);
    },
  );

  const raw = '["a"]';
  it.each<[encoding: string, raw: string | Buffer]>([
    ['br', brotliCompressSync(raw)],
    ['deflate', deflateSync(raw)],
    ['zstd', raw],
    ['compress', raw],
    ['x-gzip', gzipSync(raw)],
    ['gzip, gzip', gzipSync(gzipSync(raw))],
    ['gzip, br', gzipSync(raw)],
    ['identity, gzip', gzipSync(raw)],
    ['*', raw],
  ])('the encoding %s', async (encoding, bytes) => {
    await expectRefused(service, { raw: bytes, headers: { 'content-encoding': encoding } }, NOT_AN_ENCODING);
  });
});

describe('what is not gzip is refused:', () => {
  const BROKEN = invalid('body must be valid gzip');
  const batch = (raw: Buffer | string): CallOptions => ({ raw, headers: { 'content-encoding': 'gzip' } });

  /** A stream whose bytes from `at` on, counted from the end when negative, are these. */
  function patched(text: string, at: number, ...bytes: number[]): Buffer {
    const stream = gzipSync(text);
    stream.set(bytes, at < 0 ? stream.length + at : at);
    return stream;
  }

  it.each<[what: string, raw: Buffer | string]>([
    ['JSON', '["a"]'],
    ['NDJSON', '"a"\n"b"'],
    ['a byte', Buffer.from([0x1f])],
    ['zeros', Buffer.alloc(100)],
    ['zlib', deflateSync('["a"]')],
    ['Brotli', brotliCompressSync('["a"]')],
    ['a header and nothing else', gzipSync('["a"]').subarray(0, 10)],
    ['another method than deflate', patched('["a"]', 2, 7)],
    ['a block that cannot be', patched('["a"]', 10, 0xff, 0xff)],
    ['a wrong checksum', patched('["a"]', -8, 0, 0, 0, 0)],
    ['a wrong length', patched('["a"]', -4, 9, 0, 0, 0)],
    ['a second member that is cut off', Buffer.concat([gzipSync('["a"]'), gzipSync(' ').subarray(0, -3)])],
  ])('%s', async (_, raw) => {
    await expectRefused(service, batch(raw), BROKEN);
  });

  it.each(FORMAT_NAMES)('%s cut off anywhere', async (format) => {
    const { raw, headers } = gzipped(written(format, entriesOf(20)));
    const id = await newJob();
    // Each prefix of a small stream, and the whole of it in the end: what was cut off has left nothing behind.
    for (let length = 1; length < raw.length; length++) {
      const { status, body } = await append(service, id, { raw: (raw as Buffer).subarray(0, length), headers });
      expect({ length, status, body }).toEqual({
        length,
        status: 400,
        body: { error: BROKEN.error, code: BROKEN.code },
      });
    }
    expect(await append(service, id, { raw, headers })).toMatchObject(appended(20));
  });

  it('half of a large batch', async () => {
    const { raw, headers } = gzipped(written('NDJSON', entriesOf(1_000)));
    await expectRefused(service, { raw: (raw as Buffer).subarray(0, raw.length / 2), headers }, BROKEN);
  });
});
