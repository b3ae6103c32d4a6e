import { createGzip } from 'node:zlib';
import { beforeAll, expect, it } from '@jest/globals';
import { withApiProcess } from '../logs/api-process.js';
import { appended, asJson, asNdjson, type Batch, entriesOf, FORMATS, gzipped, written } from '../logs/entries.js';
import { createJob } from '../support/jobs.js';
import { withService } from '../support/service.js';

// Batches of some kilobytes on the wire, which could use hundreds of megabytes of the API's memory.

const service = withService();
const api = withApiProcess(service);

let jobId: string;
/** Peak memory in megabytes after some work. */
let usual: number;
beforeAll(async () => {
  jobId = (await createJob(service, 'memory')).id;
  const batch = gzipped(written('NDJSON', entriesOf(1_000)));
  for (let n = 0; n < 20; n++) expect((await api.append(jobId, batch)).status).toBe(200);
  usual = api.peakMegabytes();
});

/** Four times the largest measured value. Without the limits, ten concurrent batches need gigabytes. */
const MAY_GROW_BY_MB = 400;

/** Expect that a batch is refused with little memory, sequentially and concurrently. */
async function expectRefused(batch: Batch, status: number, error: string): Promise<void> {
  expect(batch.raw.length).toBeLessThan(300_000);
  const send = async () => {
    const response = await api.append(jobId, batch);
    expect({ status: response.status, error: response.body.error }).toEqual({ status, error });
  };
  for (let n = 0; n < 5; n++) await send();
  await Promise.all(Array.from({ length: 20 }, send));
  expect(api.peakMegabytes() - usual).toBeLessThan(MAY_GROW_BY_MB);
}

/** Make gzip of one string of 200 MB, without having the string in memory. */
async function bomb(byte: string, type: string): Promise<Batch> {
  const gzip = createGzip();
  const chunks: Buffer[] = [];
  gzip.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise((resolve) => gzip.once('end', resolve));
  gzip.write('["');
  const piece = Buffer.alloc(1_048_576, byte);
  for (let n = 0; n < 200; n++) await new Promise((taken) => gzip.write(piece, taken));
  gzip.end('"]');
  await ended;
  return { raw: Buffer.concat(chunks), headers: { 'content-type': type, 'content-encoding': 'gzip' } };
}

it.each([
  ['letters', 'a', 'application/json'],
  ['NULs', '\0', 'application/json'],
  ['line feeds', '\n', 'application/x-ndjson'],
])('refuses gzip of 200 MB of %s as logs with little memory', async (_, byte, type) => {
  await expectRefused(await bomb(byte, type), 413, 'body must be at most 5242880 bytes decompressed');
});

const BYTES = 5_242_000;
const filled = (text: string, between = ',') =>
  Array<string>(Math.floor(BYTES / (text.length + between.length))).fill(text);
const metadata = (list: string[]) => asJson(`[{"message":"m","metadata":{"a":[${list}]}}]`);

const TOO_MANY = 'logs must have at most 1000 entries';
const TOO_LARGE = 'logs[0] must be at most 16384 bytes of JSON';

it.each<[what: string, batch: Batch, status: number, error: string]>([
  ['strings', FORMATS['an array'](filled('""')), 413, TOO_MANY],
  ['objects', FORMATS['an object with logs'](filled('{}')), 413, TOO_MANY],
  ['lines', FORMATS.NDJSON(filled('""')), 413, TOO_MANY],
  ['blank lines', asNdjson(filled('\n', '').join('')), 400, 'logs must have at least one entry'],
  ['brackets', asJson(`${'['.repeat(BYTES / 2)}${']'.repeat(BYTES / 2)}`), 413, TOO_LARGE],
  ['objects in metadata', metadata(filled('{}').slice(100)), 413, TOO_LARGE],
  ['unknown fields', asJson(`{${filled('"":0')},"logs":[]}`), 400, 'body must have at most 100 fields'],
])('refuses as many %s as fit in a log batch without using much memory', async (_, batch, status, error) => {
  await expectRefused(gzipped(batch), status, error);
});

it('stores nothing of refused log batches', async () => {
  expect(await api.append(jobId, { body: ['after all'] })).toMatchObject(appended(1, 20_001));
});
