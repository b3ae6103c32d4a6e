import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { CallOptions } from '../support/http.js';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import {
  append,
  appended,
  appendOk,
  asJson,
  asNdjson,
  type Batch,
  type Entry,
  entriesOf,
  expectRefused,
  FORMAT_NAMES,
  FORMATS,
  FORMS,
  type Format,
  gzipped,
  type Refusal,
  tooLarge,
  written,
} from './entries.js';
import { messagesOf, readLogs } from './reading.js';

const service = withService();

/** A job to which nothing is appended. */
let id: string;
beforeAll(async () => {
  id = (await createJob(service, 'limits')).id;
});

const refuses = (batch: CallOptions, refusal: Refusal) => expectRefused(service, id, batch, refusal);

const newJob = async () => (await createJob(service, 'limits')).id;

/** Expect that a new job accepts a batch, and that its messages are these. */
async function accepts(batch: CallOptions, messages: readonly string[]): Promise<void> {
  const job = await newJob();
  expect(await append(service, job, batch)).toMatchObject(appended(messages.length));
  expect(messagesOf(await readLogs(service, job))).toEqual(messages);
}

/** Pad a batch to this many bytes with white space, which every format ignores. */
const padded = ({ raw, headers }: Batch, bytes: number): Batch => ({ raw: `${raw}`.padEnd(bytes, ' '), headers });

describe('batch of logs', () => {
  const WIRE = 1_048_576;
  const INFLATED = 5_242_880;
  const OVER_WIRE = tooLarge(`body must be at most ${WIRE} bytes`);
  const OVER_INFLATED = tooLarge(`body must be at most ${INFLATED} bytes decompressed`);
  const OVER_COUNT = tooLarge('logs must have at most 1000 entries');

  /** 1,000 messages of just under 5 MB together; the padding sets the exact size. */
  const largest = Array.from({ length: 1_000 }, (_, n) => `${n} `.padEnd(5_200, 'x'));

  it('accepts a batch of logs with 1 MB on the wire, and refuses more', async () => {
    const messages = largest.slice(0, 150);
    const batch = written('an array', messages);
    const more = padded(batch, WIRE + 1);
    await accepts(padded(batch, WIRE), messages);
    await refuses(more, OVER_WIRE);
    const chunked = { ...more.headers, 'content-length': undefined, 'transfer-encoding': 'chunked' };
    await refuses({ ...more, headers: chunked }, OVER_WIRE);
    const stored = gzipSync(more.raw, { level: 0 });
    await refuses({ raw: stored, headers: { ...more.headers, 'content-encoding': 'gzip' } }, OVER_WIRE);
  });

  it.each(FORMAT_NAMES)('accepts a batch of logs with 5 MB inflated, and refuses more, as %s', async (format) => {
    const batch = written(format, largest);
    await accepts(gzipped(padded(batch, INFLATED)), largest);
    await refuses(gzipped(padded(batch, INFLATED + 1)), OVER_INFLATED);
  });

  it('accepts a batch of logs with 5 MB in all members of its gzip together, and refuses more', async () => {
    const blank = gzipSync(' '.repeat(INFLATED / 2));
    const batch = (...members: Buffer[]) => ({ raw: Buffer.concat(members), headers: { 'content-encoding': 'gzip' } });
    await accepts(batch(blank, gzipSync('["a"]')), ['a']);
    await refuses(batch(blank, blank, gzipSync('["a"]')), OVER_INFLATED);
  });

  it.each(FORMS)('accepts a batch of 1,000 log entries, and refuses more, as $form', async ({ write }) => {
    expect(await append(service, await newJob(), write(entriesOf(1_000)))).toMatchObject(appended(1_000));
    await refuses(write(entriesOf(1_001)), OVER_COUNT);
  });

  it.each(FORMAT_NAMES)('refuses a batch of as many log entries as fit into 5 MB, as %s', async (format) => {
    await refuses(gzipped(FORMATS[format](Array<string>((INFLATED - 100) / 4).fill('""'))), OVER_COUNT);
  });

  it('refuses NDJSON logs with a line of several megabytes, whether or not the line ends', async () => {
    const line = `"${'x'.repeat(10 * WIRE)}"`;
    await refuses(gzipped(asNdjson(`"a"\n${line}\n"b"`)), OVER_INFLATED);
    await refuses(gzipped(asNdjson(line.slice(0, -1))), OVER_INFLATED);
    const refusal = tooLarge('line 2 must be at most 16384 bytes of JSON');
    await refuses(gzipped(asNdjson(`"a"\n"${'x'.repeat(4 * WIRE)}"\n"b"`)), refusal);
  });
});

describe('log entry', () => {
  const LIMIT = 16_384;
  const refusalOf = (format: Format) =>
    tooLarge(`${format === 'NDJSON' ? 'line 2' : 'logs[1]'} must be at most ${LIMIT} bytes of JSON`);
  const isAccepted = async (job: string, entry: Entry) =>
    (await append(service, job, { body: [entry] })).status === 200;

  /** Find how often a text may be repeated before the entry is refused. */
  async function mostOf(make: (times: number) => Entry): Promise<number> {
    const job = await newJob();
    let [fits, over] = [0, 2 * LIMIT];
    while (over - fits > 1) {
      const middle = Math.floor((fits + over) / 2);
      if (await isAccepted(job, make(middle))) fits = middle;
      else over = middle;
    }
    return fits;
  }

  /** Contents of an entry of 16 KB, and the bytes of JSON per repetition. */
  const MEASURES: [what: string, bytes: number, make: (times: number) => Entry][] = [
    ['ASCII', 1, (times) => 'x'.repeat(times)],
    ['characters of 2 bytes', 2, (times) => 'é'.repeat(times)],
    ['characters of 3 bytes', 3, (times) => ({ message: '日'.repeat(times) })],
    ['astral characters', 4, (times) => ({ message: '🚂'.repeat(times) })],
    ['quotes, which JSON escapes', 2, (times) => '"'.repeat(times)],
    ['control characters', 6, (times) => '\x01'.repeat(times)],
    ['a source', 1, (times) => ({ message: '', source: 'x'.repeat(times) })],
    ['metadata', 2, (times) => ({ message: '', metadata: { a: Array(times).fill(1) } })],
    ['keys of metadata', 3, (times) => ({ message: '', metadata: { ['日'.repeat(times)]: 1 } })],
  ];

  it.each(MEASURES)('accepts a log entry of 16 KB of JSON, and refuses more, made of %s', async (_, bytes, make) => {
    const most = await mostOf(make);
    // The rest of the entry, such as the time of storage, also has some bytes.
    expect(most * bytes).toBeGreaterThan(LIMIT - 100);
    expect(most * bytes).toBeLessThanOrEqual(LIMIT);
    const largest = make(most);
    for (const format of FORMAT_NAMES) {
      const job = await newJob();
      expect(await append(service, job, written(format, ['a', largest, 'b']))).toMatchObject(appended(3));
      const [, stored] = await readLogs(service, job);
      expect(stored).toMatchObject(typeof largest === 'string' ? { message: largest } : (largest as object));
      await refuses(written(format, ['a', make(most + 1), 'b']), refusalOf(format));
    }
  });

  it('measures everything that is stored for a log entry', async () => {
    const job = await newJob();
    const part = 'x'.repeat(5_400);
    const metadata = { part };
    expect(await isAccepted(job, { message: part, source: part, metadata })).toBe(true);
    expect(await isAccepted(job, { message: part + part, source: part })).toBe(true);
    expect(await isAccepted(job, { message: part + part, source: part, metadata })).toBe(false);
    expect(await isAccepted(job, { message: part, source: part, metadata: { part, more: part } })).toBe(false);
  });

  const SPELLINGS: [what: string, spell: (bytes: number) => string][] = [
    ['fields that are ignored', (bytes) => `{"message":"m","more":"${'x'.repeat(bytes)}"}`],
    ['white space', (bytes) => `{"message":${' '.repeat(bytes)}"m"}`],
    ['escapes', (bytes) => `"${'\\u0061'.repeat(bytes / 6)}"`],
  ];

  it.each(SPELLINGS)(
    'accepts a log entry that is sent with three times its stored length, with %s',
    async (_, spell) => {
      for (const format of FORMAT_NAMES) {
        const batch = FORMATS[format](['"a"', spell(2.9 * LIMIT), '"b"']);
        expect(await append(service, await newJob(), batch)).toMatchObject(appended(3));
      }
    },
  );

  it.each([
    ...SPELLINGS,
    ['brackets', (bytes: number) => `${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}`],
    ['text that is not JSON', (bytes: number) => 'x'.repeat(bytes)],
  ] as typeof SPELLINGS)(
    'refuses a log entry without parsing it if it is sent with more than four times the limit, with %s',
    async (_, spell) => {
      for (const format of FORMAT_NAMES)
        await refuses(FORMATS[format](['"a"', spell(4.1 * LIMIT), '"b"']), refusalOf(format));
    },
  );

  it('refuses a log entry that exceeds the limit only once it is encoded as JSON again', async () => {
    // JSON.stringify writes 1e20 as 21 digits.
    const text = `{"message":"m","metadata":{"a":[${Array(1_500).fill('1e20')}]}}`;
    expect(text.length).toBeLessThan(LIMIT);
    await refuses(FORMATS['an array'](['"a"', text]), refusalOf('an array'));
  });
});

describe('service with its own limits', () => {
  const own = withService({
    MAX_LOG_ENTRIES: '3',
    MAX_LOG_WIRE_BYTES: '4000',
    MAX_LOG_BATCH_BYTES: '3000',
    MAX_LOG_ENTRY_BYTES: '1500',
    MAX_BODY_BYTES: '2000',
    MAX_PAYLOAD_BYTES: '2000',
    MAX_EVENT_BYTES: '2000',
  });
  const padding = (bytes: number) => asJson('["a"]'.padEnd(bytes));

  it('refuses logs above each configured limit', async () => {
    const job = (await createJob(own, 'own')).id;
    const refused: [batch: Batch, error: string][] = [
      [written('an array', entriesOf(4)), 'logs must have at most 3 entries'],
      [written('NDJSON', entriesOf(4)), 'logs must have at most 3 entries'],
      [padding(4_001), 'body must be at most 4000 bytes'],
      [padding(3_001), 'body must be at most 3000 bytes decompressed'],
      [gzipped(padding(3_001)), 'body must be at most 3000 bytes decompressed'],
      [written('an array', ['a', 'x'.repeat(1_501)]), 'logs[1] must be at most 1500 bytes of JSON'],
    ];
    for (const [batch, error] of refused) await expectRefused(own, job, batch, tooLarge(error));
  });

  it('accepts logs up to each configured limit, and other bodies up to theirs', async () => {
    const job = await jobIn(own, 'running', 'own');
    await appendOk(own, job, entriesOf(3));
    expect(await append(own, job, padding(3_000))).toMatchObject(appended(1, 4));
    expect(await append(own, job, gzipped(padding(3_000)))).toMatchObject(appended(1, 5));
    await appendOk(own, job, ['a', 'x'.repeat(1_400)], 6);
    const event = async (bytes: number) =>
      (await own.call('POST', `/jobs/${job}/event`, { body: 'x'.repeat(bytes) })).status;
    expect([await event(1_900), await event(2_100)]).toEqual([200, 413]);
  });
});
