import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { type ApiProcess, startApiProcess } from './api-process.js';
import { appendOk, entriesOf, gzipped, logsKey, readLogs, written } from './entries.js';
import { hangUp, RawSender } from './raw-sender.js';

// Clients that do not send as they should: the API waits for none of them for ever, keeps little of what they send, and
// stores nothing of it.

const MB = 1_048_576;

let service: TestService;
let api: ApiProcess;
let jobId: string;
beforeAll(async () => {
  service = await startService();
  api = await startApiProcess(service);
  jobId = (await createJob(service, 'senders')).id;
});
afterEach(hangUp);
afterAll(async () => {
  await api.stop();
  await service.stop();
});

const MAY_GROW_BY_MB = 150;
const GZIP = { 'content-encoding': 'gzip' };
const JSON_TYPE = { 'content-type': 'application/json' };
const NDJSON_TYPE = { 'content-type': 'application/x-ndjson' };
const CHUNKED = { 'transfer-encoding': 'chunked' };

/** Begin an append of the test's job, of these headers. */
function sender(headers: Record<string, string | number>): RawSender {
  const made = new RawSender(api.url);
  made.begin(jobId, headers);
  return made;
}

/** Expect that nothing is stored, and that the API does its work. */
async function expectNothingStored(): Promise<void> {
  expect(await service.redis.exists(logsKey(service, jobId))).toBe(0);
  const { id } = await createJob(service, 'senders');
  expect(await api.append(id, { body: ['served'] })).toMatchObject({ status: 200, body: { fromSeq: 1, toSeq: 1 } });
}

it('senders that are slow or fall silent are cut off, while others are served', async () => {
  const before = api.peakMegabytes();
  const batch = gzipped(written('NDJSON', entriesOf(1_000))).raw as Buffer;
  const almostAll = Buffer.alloc(MB - 1, ' ');
  const silent = Array.from({ length: 15 }, () => sender({ ...JSON_TYPE, 'content-length': MB }));
  for (const each of silent) await each.write(almostAll);
  const slow = Array.from({ length: 15 }, (_, n) =>
    sender({ ...NDJSON_TYPE, ...GZIP, ...(n % 2 ? CHUNKED : { 'content-length': batch.length }) }),
  );
  const drip = (at: number) => {
    for (const [n, each] of slow.entries()) {
      const byte = batch.subarray(at, at + 1);
      if (!each.isClosed) void (n % 2 ? each.writeChunk(byte) : each.write(byte));
    }
  };

  const { id } = await createJob(service, 'senders');
  let served = 0;
  await until(async () => {
    drip(served);
    expect(await api.append(id, { body: ['served'] })).toMatchObject({ status: 200, body: { toSeq: ++served } });
    return [...silent, ...slow].every((each) => each.isClosed);
  }, 45_000);

  expect([...silent, ...slow].map(({ status }) => status)).toEqual(Array(30).fill(408));
  expect(await readLogs(service, id)).toHaveLength(served);
  expect(api.peakMegabytes() - before).toBeLessThan(MAY_GROW_BY_MB);
  await expectNothingStored();
}, 60_000);

describe('a body that never ends is refused and cut off:', () => {
  const blanks = Buffer.alloc(65_536, ' ');
  const lines = Buffer.from('"a line"\n'.repeat(8_000));
  /** As many members as come to some kilobytes. */
  const members = (bytes: Buffer) => Buffer.concat(Array(50).fill(gzipSync(bytes)));

  it.each<[what: string, headers: Record<string, string>, piece: Buffer]>([
    ['white space', JSON_TYPE, blanks],
    ['lines', NDJSON_TYPE, lines],
    ['one line', NDJSON_TYPE, Buffer.alloc(65_536, 'x')],
    ['members of gzip', { ...JSON_TYPE, ...GZIP }, members(Buffer.alloc(MB))],
    ['members of gzip, of lines', { ...NDJSON_TYPE, ...GZIP }, members(lines)],
    ['what is no gzip', { ...JSON_TYPE, ...GZIP }, blanks],
  ])('%s', async (_, headers, piece) => {
    const before = api.peakMegabytes();
    const senders = Array.from({ length: 10 }, () => sender({ ...headers, ...CHUNKED }));
    await Promise.all(
      senders.map(async (each) => {
        for (let sent = 0; sent < 64 * MB && !each.isClosed; sent += piece.length) await each.writeChunk(piece);
        await each.closed();
      }),
    );
    for (const { status } of senders) expect(status).toBe(413);
    expect(api.peakMegabytes() - before).toBeLessThan(MAY_GROW_BY_MB);
    await expectNothingStored();
  });
});

describe('a batch of which a part arrives is not stored:', () => {
  const { raw: plain } = written('NDJSON', entriesOf(1_000));
  const { raw: packed } = gzipped(written('NDJSON', entriesOf(1_000)));

  const cut: [what: string, headers: Record<string, string | number>, raw: Buffer][] = [
    ['plain', NDJSON_TYPE, Buffer.from(plain as string)],
    ['gzipped', { ...NDJSON_TYPE, ...GZIP }, packed as Buffer],
  ];

  it.each(cut)('%s, and its client ends the connection', async (_, headers, raw) => {
    const client = sender({ ...headers, 'content-length': raw.length });
    await client.write(raw.subarray(0, -1));
    client.end();
    expect(await client.closed()).toBe(400);
    await expectNothingStored();
  });

  it.each(cut)('%s in chunks, and its client ends the connection', async (_, headers, raw) => {
    const client = sender({ ...headers, ...CHUNKED });
    // All of it, but for the chunk of no bytes that says so.
    await client.writeChunk(raw);
    client.end();
    expect(await client.closed()).toBe(400);
    await expectNothingStored();
  });

  it.each(cut)('%s, and its client is gone', async (_, headers, raw) => {
    const clients = Array.from({ length: 20 }, () => sender({ ...headers, 'content-length': raw.length }));
    for (const client of clients) await client.write(raw.subarray(0, -1));
    for (const client of clients) client.reset();
    for (const client of clients) await client.closed();
    await expectNothingStored();
  });
});

it('the job of all these gives its first entry seq 1', async () => {
  await appendOk(service, jobId, ['at last']);
});
