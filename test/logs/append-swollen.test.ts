import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { type ApiProcess, startApiProcess } from './api-process.js';
import { asJson, asNdjson, type Batch, entriesOf, FORMATS, gzipped, written } from './entries.js';

// Batches within every limit of bytes, some kilobytes on the wire, which would be hundreds of megabytes of objects.

let service: TestService;
let api: ApiProcess;
let jobId: string;
beforeAll(async () => {
  service = await startService();
  api = await startApiProcess(service);
  jobId = (await createJob(service, 'swollen')).id;
  // Some work first, so that what it always takes is not measured.
  const batch = gzipped(written('NDJSON', entriesOf(1_000)));
  for (let n = 0; n < 20; n++) expect((await api.append(jobId, batch)).status).toBe(200);
});
afterAll(async () => {
  await api.stop();
  await service.stop();
});

const MAY_GROW_BY_MB = 150;

const BYTES = 5_242_000;
const filled = (text: string, between = ',') =>
  Array<string>(Math.floor(BYTES / (text.length + between.length))).fill(text);
const metadata = (list: string[]) => asJson(`[{"message":"m","metadata":{"a":[${list}]}}]`);

const TOO_MANY = 'logs must have at most 1000 entries';
const TOO_LARGE = 'logs[0] must be at most 16384 bytes of JSON';

it.each<[what: string, batch: Batch, status: number, error: string]>([
  ['as many strings as fit', FORMATS['an array'](filled('""')), 413, TOO_MANY],
  ['as many objects as fit', FORMATS['an object with logs'](filled('{}')), 413, TOO_MANY],
  ['as many numbers as fit', FORMATS['an array'](filled('1')), 413, TOO_MANY],
  ['as many lines as fit', FORMATS.NDJSON(filled('""')), 413, TOO_MANY],
  ['blank lines', asNdjson(filled('\n', '').join('')), 400, 'logs must have at least one entry'],
  ['an entry of millions of levels', asJson(`${'['.repeat(BYTES / 2)}${']'.repeat(BYTES / 2)}`), 413, TOO_LARGE],
  ['metadata of as many objects as fit', metadata(filled('{}').slice(100)), 413, TOO_LARGE],
  ['fields that nobody asked for', asJson(`{${filled('"":0')},"logs":[]}`), 400, 'body must have at most 100 fields'],
])('%s take no more memory than any batch', async (_, batch, status, error) => {
  const packed = gzipped(batch);
  expect(packed.raw.length).toBeLessThan(20_000);
  const before = api.peakMegabytes();
  const send = async () => {
    const answer = await api.append(jobId, packed);
    expect({ status: answer.status, error: answer.body.error }).toEqual({ status, error });
  };

  for (let n = 0; n < 10; n++) await send();
  await Promise.all(Array.from({ length: 20 }, send));

  expect(api.peakMegabytes() - before).toBeLessThan(MAY_GROW_BY_MB);
});
