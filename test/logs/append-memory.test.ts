import { createGzip } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { type ApiProcess, startApiProcess } from './api-process.js';
import { appended, type Batch, entriesOf, gzipped, written } from './entries.js';

// What a client may send does not decide how much memory the API takes. It is a process of its own, since in this one
// the memory of the test would be measured as well.

const MB = 1_048_576;

/** Above what it has when it has done some work. One bomb that is inflated in full is 200 MB, twenty are 4 GB. */
const MAY_GROW_BY_MB = 150;

let service: TestService;
let api: ApiProcess;
let jobId: string;
beforeAll(async () => {
  service = await startService();
  api = await startApiProcess(service);
  jobId = (await createJob(service, 'memory')).id;
  // Some work first, so that what it always takes is not measured.
  const batch = gzipped(written('NDJSON', entriesOf(1_000)));
  for (let n = 0; n < 20; n++) expect((await api.append(jobId, batch)).status).toBe(200);
});
afterAll(async () => {
  await api.stop();
  await service.stop();
});

/** One string of so many bytes, a few kilobytes on the wire, made without ever being as large. */
async function bomb(bytes: number, byte: string, type = 'application/json'): Promise<Batch> {
  const gzip = createGzip();
  const chunks: Buffer[] = [];
  gzip.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise((resolve) => gzip.once('end', resolve));
  gzip.write('["');
  const piece = Buffer.alloc(MB, byte);
  for (let left = bytes; left > 0; left -= MB) await new Promise((taken) => gzip.write(piece, taken));
  gzip.end('"]');
  await ended;
  return { raw: Buffer.concat(chunks), headers: { 'content-type': type, 'content-encoding': 'gzip' } };
}

const REFUSED = { status: 413, body: { error: 'body must be at most 5242880 bytes inflated', code: 'TOO_LARGE' } };

it('gzip bombs of 200 MB take no more memory than any batch, one by one and at once', async () => {
  const bombs = [
    await bomb(200 * MB, 'a'),
    await bomb(200 * MB, '\0'),
    await bomb(200 * MB, '\n', 'application/x-ndjson'),
  ];
  for (const { raw } of bombs) expect(raw.length).toBeLessThan(MB / 4);
  const send = async (n: number) =>
    expect(await api.append(jobId, bombs[n % bombs.length] as Batch)).toMatchObject(REFUSED);
  const before = api.peakMegabytes();

  for (let n = 0; n < 40; n++) await send(n);
  for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 20 }, (_, n) => send(n)));

  expect(api.peakMegabytes() - before).toBeLessThan(MAY_GROW_BY_MB);
  expect(await api.append(jobId, { body: ['after all'] })).toMatchObject(appended(1, 20_001));
});
