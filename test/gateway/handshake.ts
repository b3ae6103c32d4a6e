import { once } from 'node:events';
import net from 'node:net';
import { expect } from '@jest/globals';
import { responseIn } from '../support/raw-client.js';
import { until } from '../support/until.js';

/** A valid id that no job has. */
export const UNKNOWN_JOB = '00aaaaaaaaaaaaaaaaaaaaaaaaaa';

/** The response of a server to a handshake: that it opens a WebSocket, or an ordinary response. */
export interface Shaken {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: tests compare whole values; a schema here would hide differences
  body: any;
  /** All bytes so far. Those after the response are frames. */
  bytes: () => Buffer;
  socket: net.Socket;
}

export interface ShakeOptions {
  method?: string;
  /** Headers in addition to those of a valid handshake; undefined leaves one of those out. */
  headers?: Record<string, string | undefined>;
  body?: string;
  /** A connection to send it on. Default: a new one. */
  socket?: net.Socket;
}

const GOOD = {
  host: 'localhost',
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

const sockets: net.Socket[] = [];

/** Connect and send nothing yet. */
export async function connect(url: string, options: { allowHalfOpen?: boolean } = {}): Promise<net.Socket> {
  const socket = net.connect({ port: Number(new URL(url).port), host: '127.0.0.1', ...options });
  sockets.push(socket);
  socket.on('error', () => undefined); // What came, or did not come, shows the error.
  await once(socket, 'connect');
  return socket;
}

/** Send a handshake without waiting for the response. This client never responds to frames of the server. */
export async function begin(url: string, path: string, options: ShakeOptions = {}): Promise<net.Socket> {
  const { method = 'GET', headers = {}, body = '', socket = await connect(url) } = options;
  const all = { ...GOOD, ...(body && { 'content-length': String(Buffer.byteLength(body)) }), ...headers };
  const lines = Object.entries(all).filter(([, value]) => value !== undefined);
  const head = [`${method} ${path} HTTP/1.1`, ...lines.map((line) => line.join(': '))];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  return socket;
}

/** Send a handshake and read the whole response. The socket stays as the server leaves it, until `cutAll`. */
export async function shake(url: string, path: string, options: ShakeOptions = {}): Promise<Shaken> {
  const socket = await begin(url, path, options);
  let bytes = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
  });
  const isWhole = () => socket.closed || parse(bytes, options.method) !== null;
  await until(isWhole);
  const response = parse(bytes, options.method);
  if (response === null) throw new Error(`no whole answer: ${bytes}`);
  return { ...response, bytes: () => bytes, socket };
}

/** Check that a stream was refused before the upgrade by a whole HTTP response (contract §6), and nothing follows. */
export async function expectRefusal(shaken: Shaken, status: number, code: string): Promise<void> {
  const { headers, body, socket } = shaken;
  expect({ status: shaken.status, body }).toEqual({ status, body: { error: expect.stringMatching(/./), code } });
  expect(headers['content-type']).toMatch(/^application\/json(;|$)/);
  expect(headers['x-request-id']).toMatch(/./);
  expect(headers).not.toHaveProperty('sec-websocket-accept');
  await until(() => socket.closed);
}

/** Cut every socket that is still open. */
export function cutAll(): void {
  for (const socket of sockets.splice(0)) socket.destroy();
}

/** Parse a response; null while something is missing. */
function parse(bytes: Buffer, method?: string): Omit<Shaken, 'socket' | 'bytes'> | null {
  const found = responseIn(bytes, method);
  if (found === null) return null;
  const { status, headers, text } = found.response;
  return { status, headers, body: text === '' ? null : JSON.parse(text) };
}
