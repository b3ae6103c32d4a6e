import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CallOptions } from '../support/http.js';
import { createJob } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import {
  append,
  appended,
  asNdjson,
  type Batch,
  ENCODING_NAMES,
  ENCODINGS,
  entriesOf,
  FORMAT_NAMES,
  FORMATS,
  gzipped,
  readLogs,
  written,
} from './entries.js';
import { expectRefused, tooLarge } from './refusals.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const WIRE_LIMIT = 1_048_576;
const BATCH_LIMIT = 5_242_880;

const OVER_WIRE = tooLarge('body must be at most 1048576 bytes');
const OVER_BATCH = tooLarge('body must be at most 5242880 bytes inflated');
const OVER_COUNT = tooLarge('logs must have at most 1000 entries');

/** A batch that is padded to so many bytes with white space, which no format minds. */
const padded = ({ raw, headers }: Batch, bytes: number): Batch => ({ raw: `${raw}`.padEnd(bytes, ' '), headers });

/** 1 000 entries that come to just under 5 MB, which leaves the exact size to the padding. */
const largest = Array.from({ length: 1_000 }, (_, n) => `${n} `.padEnd(5_200, 'x'));

const newJob = async () => (await createJob(service, 'sizes')).id;

async function expectTaken(id: string, batch: CallOptions, messages: readonly string[]): Promise<void> {
  expect(await append(service, id, batch)).toMatchObject(appended(messages.length));
  expect((await readLogs(service, id, 100)).map(({ message }) => message)).toEqual(messages);
}

describe.each(FORMAT_NAMES)('%s', (format) => {
  it('of 1 MB exactly on the wire is taken, and a byte more is refused', async () => {
    const messages = largest.slice(0, 150);
    const batch = written(format, messages);
    await expectTaken(await newJob(), padded(batch, WIRE_LIMIT), messages);
    await expectRefused(service, padded(batch, WIRE_LIMIT + 1), OVER_WIRE);
    const { raw, headers } = padded(batch, WIRE_LIMIT + 1);
    const chunked = { ...headers, 'content-length': undefined, 'transfer-encoding': 'chunked' };
    await expectRefused(service, { raw, headers: chunked }, OVER_WIRE);
  });

  it('of 5 MB exactly inflated is taken, and a byte more is refused', async () => {
    const batch = written(format, largest);
    await expectTaken(await newJob(), gzipped(padded(batch, BATCH_LIMIT)), largest);
    await expectRefused(service, gzipped(padded(batch, BATCH_LIMIT + 1)), OVER_BATCH);
  });

  it('of over 1 MB on the wire is refused, gzipped or not', async () => {
    const batch = written(format, largest);
    await expectRefused(service, batch, OVER_WIRE);
    const stored = {
      ...batch,
      raw: gzipSync(batch.raw, { level: 0 }),
      headers: { ...batch.headers, 'content-encoding': 'gzip' },
    };
    await expectRefused(service, stored, OVER_WIRE);
  });

  it('of 1 000 entries is taken, and one more is refused', async () => {
    const id = await newJob();
    const entries = entriesOf(1_001);
    for (const encoding of ENCODING_NAMES)
      await expectRefused(service, ENCODINGS[encoding](written(format, entries)), OVER_COUNT);
    expect(await append(service, id, written(format, entries.slice(1)))).toMatchObject(appended(1_000));
  });

  it('of as many entries as 5 MB hold is refused', async () => {
    const texts = Array<string>(Math.floor((BATCH_LIMIT - 100) / 3)).fill('""');
    await expectRefused(service, gzipped(FORMATS[format](texts)), OVER_COUNT);
  });
});

describe('a line of NDJSON', () => {
  const line = `"${'x'.repeat(10 * WIRE_LIMIT)}"`;

  it('of 10 MB is refused', async () => {
    await expectRefused(service, asNdjson(line), OVER_WIRE);
    await expectRefused(service, gzipped(asNdjson(line)), OVER_BATCH);
    await expectRefused(service, gzipped(asNdjson(`"a"\n${line}\n"b"`)), OVER_BATCH);
  });

  it('of 10 MB that never ends is refused', async () => {
    await expectRefused(service, gzipped(asNdjson(line.slice(0, -1))), OVER_BATCH);
  });

  it('of 4 MB is refused for itself', async () => {
    const refusal = tooLarge('line 2 must be at most 16384 bytes of JSON');
    await expectRefused(service, gzipped(asNdjson(`"a"\n"${'x'.repeat(4 * WIRE_LIMIT)}"\n"b"`)), refusal);
  });
});

describe('gzip of several members', () => {
  it('counts them all', async () => {
    const blank = gzipSync(' '.repeat(BATCH_LIMIT / 2));
    const batch = (...members: Buffer[]) => ({ raw: Buffer.concat(members), headers: { 'content-encoding': 'gzip' } });
    await expectRefused(service, batch(blank, blank, gzipSync('["a"]')), OVER_BATCH);
    await expectTaken(await newJob(), batch(blank, gzipSync('["a"]')), ['a']);
  });
});
