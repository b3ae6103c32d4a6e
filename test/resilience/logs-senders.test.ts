import { once } from 'node:events';
import type net from 'node:net';
import { setImmediate as immediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { withApiProcess } from '../logs/api-process.js';
import { append, appendOk, entriesOf, gzipped, logsKey, written } from '../logs/entries.js';
import { createJob } from '../support/jobs.js';
import { RawClient } from '../support/raw-client.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { until } from '../support/until.js';

// Clients that send too little, too slowly or without end, or do not read: the API disconnects them in the end, buffers
// little of what they send, and serves all others.

const MB = 1_048_576;

const service = withService();
const api = withApiProcess(service);

let id: string;
beforeEach(async () => {
  id = (await createJob(service, 'senders')).id;
});

type Headers = Record<string, string | number>;
const GZIP = { 'content-encoding': 'gzip' };
const JSON_TYPE = { 'content-type': 'application/json' };
const NDJSON_TYPE = { 'content-type': 'application/x-ndjson' };
const CHUNKED = { 'transfer-encoding': 'chunked' };

const open = new Set<net.Socket>();
afterEach(async () => {
  for (const socket of open) {
    socket.destroy();
    if (!socket.closed) await once(socket, 'close');
  }
  open.clear();
});

function connect(): RawClient {
  const client = new RawClient(api.url);
  open.add(client.socket);
  return client;
}

const head = (method: string, headers: Headers = {}, query = '') =>
  [
    `${method} /api/v1/jobs/${id}/logs${query} HTTP/1.1`,
    ...Object.entries({ host: 'localhost', 'x-api-key': ADMIN_KEY, ...headers }).map((each) => each.join(': ')),
    '\r\n',
  ].join('\r\n');

/** Begin an append with these headers; the test writes the body. */
function startAppend(headers: Headers) {
  const client = connect();
  const { socket } = client;
  socket.write(head('POST', headers));
  /** Write, and wait until the bytes are sent or the connection is closed. */
  const write = async (bytes: Buffer) => {
    await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
    // Without this, an immediate write leaves no time to read the response, and a reset would discard it.
    await immediate();
  };
  return {
    socket,
    write,
    writeChunk: (bytes: Buffer) =>
      write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])),
    isClosed: () => socket.closed,
    /** Wait for the end of the connection, and return the status of the response; 0 for none. */
    closed: async () => (await client.closed())[0]?.status ?? 0,
  };
}

/** Expect that nothing is stored, and that the API still serves. */
async function expectNothingStored(): Promise<void> {
  expect(await service.redis.exists(logsKey(service, id))).toBe(0);
  await appendOk(api, id, ['served']);
}

it('disconnects clients that send logs slowly or stop sending, and keeps serving others', async () => {
  const batch = gzipped(written('NDJSON', entriesOf(1_000))).raw as Buffer;
  const silent = Array.from({ length: 15 }, () => startAppend({ ...JSON_TYPE, 'content-length': MB }));
  for (const each of silent) await each.write(Buffer.alloc(MB - 1, ' '));
  const slow = Array.from({ length: 15 }, (_, n) =>
    startAppend({ ...NDJSON_TYPE, ...GZIP, ...(n % 2 ? CHUNKED : { 'content-length': batch.length }) }),
  );
  const other = (await createJob(service, 'senders')).id;
  let served = 0;
  await until(async () => {
    for (const [n, each] of slow.entries()) {
      const byte = batch.subarray(served, served + 1);
      if (!each.isClosed()) void (n % 2 ? each.writeChunk(byte) : each.write(byte));
    }
    await appendOk(api, other, ['served'], ++served);
    return [...silent, ...slow].every((each) => each.isClosed());
  }, 90_000);

  expect(await Promise.all([...silent, ...slow].map((each) => each.closed()))).toEqual(Array(30).fill(408));
  await expectNothingStored();
});

describe('body of logs that never ends', () => {
  const blanks = Buffer.alloc(65_536, ' ');
  const lines = Buffer.from('"a line"\n'.repeat(8_000));
  /** Make gzip of 50 members, some kilobytes together. */
  const members = (bytes: Buffer) => Buffer.concat(Array(50).fill(gzipSync(bytes)));
  /** Four times the largest measured value; the clients send up to 640 MB. */
  const MAY_GROW_BY_MB = 400;

  it.each<[what: string, headers: Headers, piece: Buffer]>([
    ['white space', JSON_TYPE, blanks],
    ['lines', NDJSON_TYPE, lines],
    ['one line', NDJSON_TYPE, Buffer.alloc(65_536, 'x')],
    ['members of gzip', { ...JSON_TYPE, ...GZIP }, members(Buffer.alloc(MB))],
    ['members of gzip, of lines', { ...NDJSON_TYPE, ...GZIP }, members(lines)],
    ['bytes that are not gzip', { ...JSON_TYPE, ...GZIP }, blanks],
  ])('refuses a body of logs that never ends, and disconnects its client: %s', async (_, headers, piece) => {
    const before = api.peakMegabytes();
    const senders = Array.from({ length: 10 }, () => startAppend({ ...headers, ...CHUNKED }));
    await Promise.all(
      senders.map(async (each) => {
        for (let sent = 0; sent < 64 * MB && !each.isClosed(); sent += piece.length) await each.writeChunk(piece);
        expect(await each.closed()).toBe(413);
      }),
    );
    expect(api.peakMegabytes() - before).toBeLessThan(MAY_GROW_BY_MB);
    await expectNothingStored();
  });
});

describe('batch of logs that arrives incompletely', () => {
  const plain = written('NDJSON', entriesOf(1_000));
  it.each([
    ['plain', NDJSON_TYPE, Buffer.from(plain.raw)],
    ['gzipped', { ...NDJSON_TYPE, ...GZIP }, gzipped(plain).raw as Buffer],
  ])('stores nothing of a batch of logs that arrives incompletely: %s', async (_, headers, raw) => {
    const ended = startAppend({ ...headers, 'content-length': raw.length });
    await ended.write(raw.subarray(0, -1));
    ended.socket.end();
    expect(await ended.closed()).toBe(400);

    const unfinished = startAppend({ ...headers, ...CHUNKED });
    await unfinished.writeChunk(raw); // Everything except the final empty chunk.
    unfinished.socket.end();
    expect(await unfinished.closed()).toBe(400);

    const gone = Array.from({ length: 20 }, () => startAppend({ ...headers, 'content-length': raw.length }));
    for (const each of gone) await each.write(raw.subarray(0, -1));
    for (const { socket } of gone) socket.resetAndDestroy();
    for (const each of gone) await each.closed();
    await expectNothingStored();
  });
});

// If a client with pipelined requests disconnects before it has read the first response, Node never sends the other
// responses, and never closes them either.
describe('clients that do not read responses', () => {
  const ENTRIES = 310;
  /** 5 MB inflated, some kilobytes on the wire. */
  const LARGE = gzipped(written('an array', Array(ENTRIES).fill('y'.repeat(16_000))));
  beforeEach(async () => {
    for (let n = 0; n < 2; n++) expect((await append(api, id, LARGE)).status).toBe(200);
  });

  const readRequest = () => Buffer.from(head('GET', {}, '?limit=500'));
  const appendRequest = () => {
    const headers = { ...JSON_TYPE, ...GZIP, 'content-length': LARGE.raw.length };
    return Buffer.concat([Buffer.from(head('POST', headers)), LARGE.raw as Buffer]);
  };
  /** Entries that were stored: the oldest are dropped beyond LOG_BYTES_PER_JOB. */
  const stored = async () =>
    (await service.redis.llen(logsKey(service, id))) +
    Number(await service.redis.hget(service.store.keys.job(id), 'logsDropped'));
  const readStatus = async (path: string) => (await api.read(path)).status;

  /** Send requests on one connection, and read nothing. */
  function sendUnread(requests: Buffer[]): net.Socket {
    const { socket } = connect();
    socket.pause();
    socket.write(Buffer.concat(requests));
    return socket;
  }

  it('clients that disconnect before a response do not block appends of logs', async () => {
    for (let n = 1; n <= 2; n++) {
      const before = await stored();
      const socket = sendUnread([readRequest(), ...Array.from({ length: 4 }, appendRequest)]);
      await until(async () => (await stored()) >= before + 4 * ENTRIES);
      socket.destroy();
    }
    expect((await append(api, id, LARGE)).status).toBe(200);
  });

  it('clients that disconnect before they read a large response do not block large responses', async () => {
    for (let n = 1; n <= 2; n++) {
      // The append is the last of the 16 requests that one connection may have in progress: once it is stored, all reads
      // before it have begun. Long reads run in order: once a later one has its response, the earlier ones have too.
      const before = await stored();
      const socket = sendUnread([...Array.from({ length: 15 }, readRequest), appendRequest()]);
      await until(async () => (await stored()) > before && (await readStatus(`/jobs/${id}/logs?limit=1`)) === 200);
      socket.destroy();
      await until(() => socket.closed);
    }
    // All slots must be free again.
    const responses = await Promise.all(Array.from({ length: 8 }, () => readStatus(`/jobs/${id}/logs?limit=500`)));
    expect(responses).toEqual(responses.map(() => 200));
  });

  it('clients that do not read large responses do not block small ones', async () => {
    // The first response of each connection may fit into the buffers of the system.
    for (let n = 0; n < 20; n++) sendUnread([readRequest(), readRequest(), readRequest()]);
    await until(async () => (await readStatus(`/jobs/${id}/logs?limit=500`)) === 503);
    for (const path of [`/jobs/${id}/logs?limit=1`, `/jobs/${id}`, '/spaces/senders/jobs?limit=1'])
      expect({ path, status: await readStatus(path) }).toEqual({ path, status: 200 });
    for (const socket of open) socket.destroy();
    await until(async () => (await readStatus(`/jobs/${id}/logs?limit=500`)) === 200);
  });
});
