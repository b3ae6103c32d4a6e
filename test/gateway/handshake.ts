import { once } from 'node:events';
import net from 'node:net';
import { expect } from '@jest/globals';
import { responseIn } from '../support/raw-client.js';
import { until } from '../support/until.js';

/** A valid id that no job has. */
export const UNKNOWN_JOB = '00aaaaaaaaaaaaaaaaaaaaaaaaaa';

/** The response to a handshake: an upgrade to WebSocket, or an ordinary HTTP response. */
export interface HandshakeResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: tests compare whole values; a schema here would hide differences
  body: any;
  /** All bytes so far. Those after the response are frames. */
  bytes: () => Buffer;
  socket: net.Socket;
}

export interface HandshakeOptions {
  method?: string;
  /** Headers in addition to those of a valid handshake; undefined leaves one of those out. */
  headers?: Record<string, string | undefined>;
  body?: string;
  /** A connection to send it on. Default: a new one. */
  socket?: net.Socket;
}

const VALID_HEADERS = {
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
  socket.on('error', () => undefined); // A test sees the error by the bytes that are missing.
  await once(socket, 'connect');
  return socket;
}

/** Send a handshake without waiting for the response. This client never responds to frames of the server. */
export async function beginHandshake(url: string, path: string, options: HandshakeOptions = {}): Promise<net.Socket> {
  const { method = 'GET', headers = {}, body = '', socket = await connect(url) } = options;
  const all = { ...VALID_HEADERS, ...(body && { 'content-length': String(Buffer.byteLength(body)) }), ...headers };
  const lines = Object.entries(all).filter(([, value]) => value !== undefined);
  const head = [`${method} ${path} HTTP/1.1`, ...lines.map((line) => line.join(': '))];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  return socket;
}

/** Send a handshake and read the whole response. The socket stays as the server leaves it, until `destroySockets`. */
export async function sendHandshake(
  url: string,
  path: string,
  options: HandshakeOptions = {},
): Promise<HandshakeResponse> {
  const socket = await beginHandshake(url, path, options);
  let bytes = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
  });
  const isWhole = () => socket.closed || parse(bytes, options.method) !== null;
  await until(isWhole);
  const response = parse(bytes, options.method);
  if (response === null) throw new Error(`incomplete response: ${bytes}`);
  return { ...response, bytes: () => bytes, socket };
}

/** Check that a stream was refused before the upgrade by a whole HTTP response, and nothing follows. */
export async function expectRefusal(response: HandshakeResponse, status: number, code: string): Promise<void> {
  const { headers, body, socket } = response;
  expect({ status: response.status, body }).toEqual({ status, body: { error: expect.stringMatching(/./), code } });
  expect(headers['content-type']).toMatch(/^application\/json(;|$)/);
  expect(headers['x-request-id']).toMatch(/./);
  expect(headers).not.toHaveProperty('sec-websocket-accept');
  await until(() => socket.closed);
}

/** Destroy every socket that a test has opened. */
export function destroySockets(): void {
  for (const socket of sockets.splice(0)) socket.destroy();
}

/** Parse a response; null while part of it is missing. */
function parse(bytes: Buffer, method?: string): Omit<HandshakeResponse, 'socket' | 'bytes'> | null {
  const found = responseIn(bytes, method);
  if (found === null) return null;
  const { status, headers, text } = found.response;
  return { status, headers, body: text === '' ? null : JSON.parse(text) };
}
