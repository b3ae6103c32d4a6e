import http from 'node:http';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import {
  append,
  appended,
  asJson,
  asNdjson,
  asRead,
  type Batch,
  entriesOf,
  FORMS,
  gzipped,
  written,
} from './entries.js';
import { readLogs } from './reading.js';

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
