import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import {
  append,
  appended,
  appendInPieces,
  appendOk,
  asJson,
  type Batch,
  ENCODING_NAMES,
  ENCODINGS,
  entriesOf,
  expectStored,
  FORMAT_NAMES,
  gzipped,
  readLogs,
  written,
} from './entries.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const newJob = async () => (await createJob(service, 'formats')).id;

const combinations = FORMAT_NAMES.flatMap((format) =>
  ENCODING_NAMES.flatMap((encoding) => [1, 7, 1_000].map((count) => ({ format, encoding, count }))),
);

describe('a batch is stored as it was sent', () => {
  it.each(combinations)('$count entries as $format, $encoding', async ({ format, encoding, count }) => {
    const id = await newJob();
    const entries = entriesOf(count);

    const answer = await append(service, id, ENCODINGS[encoding](written(format, entries)));

    expect(answer).toMatchObject(appended(count));
    expect(Object.keys(answer.body)).toEqual(['success', 'inserted', 'fromSeq', 'toSeq']);
    await expectStored(service, id, entries, 300);
  });

  it('after those before it, whatever their formats', async () => {
    const id = await newJob();
    const batches = FORMAT_NAMES.flatMap((format) => ENCODING_NAMES.map((encoding) => ({ format, encoding })));
    let next = 1;
    for (const [n, { format, encoding }] of batches.entries()) {
      const answer = await append(service, id, ENCODINGS[encoding](written(format, entriesOf(n + 1))));
      expect(answer).toMatchObject(appended(n + 1, next));
      next += n + 1;
    }

    const logs = await readLogs(service, id, 5);
    const sent = batches.flatMap((_, n) => entriesOf(n + 1));
    expect(logs.map(({ seq, message }) => [seq, message])).toEqual(
      sent.map((entry, i) => [i + 1, typeof entry === 'string' ? entry : entry.message]),
    );
  });
});

describe('a batch is read as', () => {
  const text = '{"message":"größer 🚂"}';
  const array = `[${text}]`;
  const typed = (raw: string, type: string): Batch => ({ raw, headers: { 'content-type': type } });
  const encoded = (encoding: string): Batch => ({ raw: gzipSync(array), headers: { 'content-encoding': encoding } });

  it.each<[as: string, batch: Batch]>([
    ['application/x-ndjson', typed(text, 'application/x-ndjson')],
    ['application/ndjson', typed(text, 'application/ndjson')],
    ['APPLICATION/X-NDJSON', typed(text, 'APPLICATION/X-NDJSON')],
    ['NDJSON with a charset', typed(text, 'application/x-ndjson; charset=utf-8')],
    ['NDJSON with a charset in quotes', typed(text, 'application/ndjson;charset="UTF-8"')],
    ['NDJSON with another parameter', typed(text, 'application/x-ndjson; profile=worker')],
    ['Application/JSON with a charset', typed(array, 'Application/JSON; charset=utf-8')],
    ['JSON with white space around', typed(` \r\n\t${array}\n`, 'application/json')],
    ['gzip of NDJSON', gzipped(typed(text, 'application/ndjson; charset=utf-8'))],
    ['GZIP', encoded('GZIP')],
    ['identity', { raw: array, headers: { 'content-encoding': 'identity' } }],
    ['gzip of two members', { ...encoded('gzip'), raw: Buffer.concat([gzipSync('['), gzipSync(`${text}]`)]) }],
    ['gzip that is stored, not deflated', { ...encoded('gzip'), raw: gzipSync(array, { level: 0 }) }],
  ])('%s', async (_, batch) => {
    const id = await newJob();
    expect(await append(service, id, batch)).toMatchObject(appended(1));
    await expectStored(service, id, ['größer 🚂']);
  });

  it('an array among fields that nobody asked for', async () => {
    const id = await newJob();
    const raw = `{"more":1,"__proto__":{"logs":[]},"logs":[{"message":"a","seq":9,"id":"x","createdAt":5,"more":[]}]}`;
    expect(await append(service, id, asJson(raw))).toMatchObject(appended(1));
    await expectStored(service, id, ['a']);
  });
});

describe('a body in pieces', () => {
  // A piece of one byte ends within characters, escapes, line ends and the header of gzip.
  const small = ['größer 🚂', { message: 'a\r\nb', source: '日本' }];
  const cases = FORMAT_NAMES.flatMap((format) => ENCODING_NAMES.map((encoding) => ({ format, encoding })));

  it.each(cases)('of a byte each is stored as it was meant: $format, $encoding', async ({ format, encoding }) => {
    const id = await newJob();
    expect(await appendInPieces(service, id, ENCODINGS[encoding](written(format, small)), 1)).toBe(200);
    await expectStored(service, id, small);
  });

  it.each(cases)('of 1 001 bytes each is stored as it was meant: $format, $encoding', async ({ format, encoding }) => {
    const id = await newJob();
    const entries = entriesOf(1_000);
    expect(await appendInPieces(service, id, ENCODINGS[encoding](written(format, entries)), 1_001)).toBe(200);
    await expectStored(service, id, entries);
  });

  it('may follow another on the same connection', async () => {
    const id = await newJob();
    const headers = { 'content-length': undefined, 'transfer-encoding': 'chunked', 'content-type': 'application/json' };
    expect(await append(service, id, { raw: '["a"]', headers })).toMatchObject(appended(1));
    expect(await append(service, id, { raw: '["b"]', headers })).toMatchObject(appended(1, 2));
    await appendOk(service, id, ['c'], 3);
  });
});
