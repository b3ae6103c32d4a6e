import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { ADMIN_KEY } from '../../test/support/shared-service.js';
import { within } from '../runs/waiting.js';

/** The outcome of bytes that were sent to an API. */
export interface RawOutcome {
  status: number | null; // Status of the first response; null for none.
  text: string; // Part of the response that arrived.
  isClosed: boolean; // Whether the connection was closed, or broke, in time.
  tookMs: number;
}

export interface RawRequest {
  head: string | Buffer; // Bytes to send first.
  again?: { bytes: Buffer; everyMs: number }; // Bytes to repeat after the head as fast as the API reads, with this pause.
  withinMs: number; // Maximum time until the connection is closed, milliseconds.
}

/** Send any bytes on a new connection. */
export async function sendRaw(url: string, { head, again, withinMs }: RawRequest): Promise<RawOutcome> {
  const { hostname, port } = new URL(url);
  const began = Date.now();
  let response = '';
  const socket = net.connect(Number(port), hostname).setNoDelay();
  socket.on('error', () => undefined); // A reset also ends the connection.
  socket.on('data', (bytes) => {
    response += bytes.toString('latin1');
  });
  const closed = new Promise<true>((resolve) => socket.on('close', () => resolve(true)));
  socket.write(head);
  if (again) void repeatBytes(socket, again);
  const isClosed = (await within(withinMs, closed)) === true;
  socket.destroy();
  const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(response) ?? [];
  const text = response.slice(response.indexOf('\r\n\r\n') + 4);
  return { status: status === undefined ? null : Number(status), text, isClosed, tookMs: Date.now() - began };
}

async function repeatBytes(socket: net.Socket, { bytes, everyMs }: { bytes: Buffer; everyMs: number }): Promise<void> {
  while (!socket.destroyed) {
    // Do not write faster than the API reads, because waiting bytes would only take memory of the test.
    if (socket.writableLength < bytes.length) socket.write(bytes);
    await delay(everyMs);
  }
}

/** Endpoints for raw requests. The job need not exist, because bodies are checked first. */
export const CREATE = '/api/v1/spaces/yard-a/jobs';
export const POLL = `${CREATE}/poll`;
export const LOGS = `/api/v1/jobs/00${'a'.repeat(26)}/logs`;

/** Create the head of a POST up to its last header, without the empty line. */
export const headOf = (path: string, headers: object) =>
  Object.entries({ host: 'yard', 'x-api-key': ADMIN_KEY, ...headers }).reduce(
    (head, [name, value]) => `${head}${name}: ${value}\r\n`,
    `POST ${path} HTTP/1.1\r\n`,
  );

export const JSON_TYPE = { 'content-type': 'application/json' };
export const NDJSON_TYPE = { 'content-type': 'application/x-ndjson' };
export const GZIP = { 'content-encoding': 'gzip' };

/** Create a request with a body of the declared length. */
function post(path: string, body: string | Buffer, headers: Record<string, string> = JSON_TYPE): Buffer {
  const bytes = Buffer.from(body);
  const head = headOf(path, { connection: 'close', 'content-length': String(bytes.length), ...headers });
  return Buffer.concat([Buffer.from(`${head}\r\n`, 'latin1'), bytes]);
}

/** Create a request with these headers, and these bytes after the empty line. */
const framed = (headers: Record<string, string>, behind: string) =>
  Buffer.from(`${headOf(CREATE, { connection: 'close', ...headers })}\r\n${behind}`, 'latin1');
const chunked = (behind: string) => framed({ ...JSON_TYPE, 'transfer-encoding': 'chunked' }, behind);
const job = (fields: object) => JSON.stringify({ name: 'bad', payload: {}, ...fields });

/** Requests that must be refused with 4xx, by their fault: some per part that can refuse. The fuzz suite has all kinds. */
export const MALFORMED: Record<string, Buffer> = {
  'no JSON': post(CREATE, '{"name":'),
  'no UTF-8': post(CREATE, Buffer.from([0x22, 0xff, 0xfe, 0x22])),
  'too deep': post(CREATE, job({ payload: null }).replace('null', '['.repeat(200_000) + ']'.repeat(200_000))),
  'wrong types': post(CREATE, job({ name: 7, maxRetries: 'x', timeoutSeconds: -1 })),
  'payload too large': post(CREATE, job({ payload: { x: 'x'.repeat(300_000) } })),
  'body too large': post(CREATE, job({ payload: { x: 'x'.repeat(1_500_000) } })),
  'too many keys': post(CREATE, `{${Array.from({ length: 60_000 }, (_, i) => `"${i}":{}`).join(',')}}`),
  'broken gzip': post(CREATE, gzipSync(job({})).subarray(0, 20), { ...JSON_TYPE, ...GZIP }),
  'gzip bomb': post(CREATE, gzipSync(Buffer.alloc(20_000_000, ' ')), { ...JSON_TYPE, ...GZIP }),
  'bomb of logs': post(LOGS, gzipSync(Buffer.alloc(50_000_000, '{}\n')), { ...NDJSON_TYPE, ...GZIP }),
  'two lengths': framed({ ...JSON_TYPE, 'content-length': '2', 'Content-Length': '5' }, '{}abc'),
  'chunk too long': chunked(`${'f'.repeat(20)}\r\n`),
  'huge header': framed({ 'x-huge': 'x'.repeat(100_000) }, ''),
  'no HTTP': Buffer.from('EHLO yard\r\n\r\n'),
};
