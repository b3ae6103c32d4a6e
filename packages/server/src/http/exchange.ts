import { randomUUID } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';
import ipaddr from 'ipaddr.js';
import proxyAddr from 'proxy-addr';

/** Headers of every response except the dashboard's files: the body is JSON and contains data of clients. */
export const COMMON: OutgoingHttpHeaders = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/** End of every body. */
export const NEWLINE = '\n';

const COMMON_LIST = Object.entries(COMMON).flat() as string[];

/** Send a complete JSON response. Express's own `res.json` would look up settings and hash the body each time. */
export function sendJson(res: ServerResponse, status: number, value: unknown, headers?: OutgoingHttpHeaders): void {
  const text = JSON.stringify(value);
  sendText(res, status, { text, bytes: Buffer.byteLength(text), headers });
}

/** A JSON body without its final newline, and its size. */
export interface JsonText {
  text: string;
  bytes: number;
  headers?: OutgoingHttpHeaders | undefined;
}

/** Send a complete response whose body is already JSON text. Adds a newline, for the sake of a shell's prompt. */
export function sendText(res: ServerResponse, status: number, { text, bytes, headers }: JsonText): void {
  const length = bytes + NEWLINE.length;
  if ((headers === undefined || Object.keys(headers).length === 0) && res.getHeaderNames().length === 0) {
    // A list of headers is written unchanged; an object, or `setHeader`, takes 2 µs more for the same result.
    res.writeHead(status, [...COMMON_LIST, 'x-request-id', requestIdOfResponse(res), 'content-length', String(length)]);
  } else {
    res.writeHead(status, { ...COMMON, ...requestIdHeader(res), ...headers, 'content-length': length });
  }
  endResponse(res, text + NEWLINE);
}

/** Send a response without a body. */
export function sendEmpty(res: ServerResponse, headers: OutgoingHttpHeaders): void {
  res.writeHead(204, { ...requestIdHeader(res), ...headers });
  endResponse(res);
}

const requestIdHeader = (res: ServerResponse) => ({ 'x-request-id': requestIdOfResponse(res) });

/** Return the body of an error response. */
export function errorBody(error: YardmasterError): Record<string, unknown> {
  return { error: error.message, code: error.code, ...error.extras };
}

/** Maximum seconds in Retry-After. The value is random, so that refused clients don't all return at once. */
const RETRY_AFTER_AT_MOST = 5;

/** Page that explains each error code. */
const ERRORS_PAGE = 'https://github.com/yardmaster/yardmaster/blob/main/docs/errors.md';

/** Return the headers of an error: a link to its explanation, Retry-After if a retry may help, and its own headers. */
export function headersOf({ code, status, retryAfterSeconds, headers }: YardmasterError): OutgoingHttpHeaders {
  const link = `<${ERRORS_PAGE}#${code.toLowerCase()}>; rel="help"`;
  const seconds = retryAfterSeconds ?? secondsFor(status);
  return seconds === null ? { link, ...headers } : { link, 'retry-after': String(seconds) };
}

function secondsFor(status: number): number | null {
  if (status === 429) return 1;
  return status === 503 ? 1 + Math.floor(Math.random() * RETRY_AFTER_AT_MOST) : null;
}

/** Respond with an error of the catalog. */
export function sendError(res: ServerResponse, error: YardmasterError, headers: OutgoingHttpHeaders = {}): void {
  sendJson(res, error.status, errorBody(error), { ...headersOf(error), ...headers });
}

/** Create the error for anything that isn't a YardmasterError: a bug, identified only by the request ID. */
export function internalError(requestId: string): YardmasterError {
  return new YardmasterError('INTERNAL', `Internal error (request ${requestId})`);
}

const CONTINUE = Symbol('tells the client to send the body');

type HeldRequest = IncomingMessage & { [CONTINUE]?: () => void };

/**
 * Let a client that sent `Expect: 100-continue` wait until `wantBody` is called. Without that call, the connection closes
 * after the response, because the next bytes could be the body or another request.
 */
export function holdBody(req: HeldRequest, res: ServerResponse): void {
  const { shouldKeepAlive } = res;
  const { 'transfer-encoding': coding, 'content-length': length } = req.headers;
  if (coding === undefined && Number(length ?? 0) === 0) return;
  res.shouldKeepAlive = false;
  req[CONTINUE] = () => {
    res.shouldKeepAlive = shouldKeepAlive;
    res.writeContinue();
  };
}

/** Tell a client that is holding back its body to send it. */
export const wantBody = (req: HeldRequest) => req[CONTINUE]?.();

/** How much of an unneeded request body is read and discarded, and for how long (milliseconds). */
const DISCARD_BYTES = 16 * 1_048_576;
const DISCARD_MS = 5_000;

/**
 * End a response whose head has been written. The rest of the request's body is read and discarded, so that a client that
 * is still sending gets its response instead of a reset. A client that never stops sending is cut off here, because Node's
 * own timeout ends with the response.
 *
 * @param body complete body of the response; absent for a response without a body
 */
export function endResponse(res: ServerResponse, body?: string | Buffer): void {
  const { req } = res;
  if (req.complete) return void res.end(body);
  discard(req);
  if (res.shouldKeepAlive) return void res.end(body);
  // Node closes such a connection at the end of the response. Bytes that arrive later get a reset, which also discards
  // bytes that the client has not read yet. So send the whole response now, but end it only once the request has ended.
  if (body === undefined) res.flushHeaders();
  else res.write(body);
  req.once('close', () => res.end());
}

function discard(req: IncomingMessage): void {
  let bytes = 0;
  const cutOff = () => req.socket.destroy();
  const timer = setTimeout(cutOff, DISCARD_MS);
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DISCARD_BYTES) cutOff();
  });
  req.on('close', () => clearTimeout(timer));
  req.on('end', () => clearTimeout(timer));
  req.on('error', () => undefined); // The client disconnected, which also ends the request.
  req.resume();
}

/** Request IDs that fit into a log line. */
const REQUEST_ID_SHAPE = /^[\x21-\x7e]{1,128}$/;

const REQUEST_ID = Symbol('id of the request');

type Identified = ServerResponse & { [REQUEST_ID]?: string };

/** Return the client's own ID of a request if it fits into a log line, otherwise a new one. */
export function requestIdOf(req: IncomingMessage): string {
  const given = req.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID_SHAPE.test(given) ? given : randomUUID();
}

/** Return the ID of a response's request, which the response carries in the header `x-request-id`. */
export function requestIdOfResponse(res: Identified): string {
  res[REQUEST_ID] ??= requestIdOf(res.req);
  return res[REQUEST_ID];
}

/**
 * Check the Host and Transfer-Encoding headers of a request.
 *
 * HTTP requires exactly one Host header, optional before HTTP/1.1. Two of them can smuggle requests past a proxy. Node
 * doesn't notice the second one, and its own refusal of a missing one has no body. Node also doesn't decode transfer codings
 * other than `chunked`, so they are refused: with 400 instead of the 501 of RFC 9112, which would trigger alerts.
 *
 * @throws INVALID_REQUEST
 */
export function checkFraming(req: IncomingMessage): void {
  if (!hasOneHost(req)) throw new YardmasterError('INVALID_REQUEST', 'Host header must appear exactly once');
  if (/,\s*chunked$/i.test(req.headers['transfer-encoding'] ?? ''))
    // Node itself refuses all others.
    throw new YardmasterError('INVALID_REQUEST', 'Transfer-Encoding must be chunked');
}

function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1');
}

/**
 * Create a function that returns the address of a request's client.
 *
 * @param trusted addresses and networks of proxies whose `X-Forwarded-For` is trusted; if empty, only the peer of the
 *   socket counts
 * @returns an address; for IPv6, its /64 network, because a single household or machine may use all of it
 */
export function clientAddressBy(trusted: readonly string[]): (req: IncomingMessage) => string {
  const isTrusted = proxyAddr.compile([...trusted]);
  return (req) => {
    const { remoteAddress } = req.socket;
    const isTrustedHop = (hop: string, distance: number) => isTrusted(withoutPort(hop), distance);
    const address = remoteAddress === undefined ? '' : withoutPort(proxyAddr(req, isTrustedHop));
    if (!ipaddr.isValid(address)) return address; // A Unix socket has no address, and a proxy may send anything.
    const parsed = ipaddr.process(address); // ::ffff:1.2.3.4 is 1.2.3.4
    if (parsed.kind() === 'ipv4') return parsed.toString();
    return `${(parsed as ipaddr.IPv6).parts
      .slice(0, 4)
      .map((part) => part.toString(16))
      .join(':')}::/64`;
  };
}

/** Remove the port, which some proxies append, and which differs for each connection. */
function withoutPort(address: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(address)?.[1] ?? /^([\d.]+):\d+$/.exec(address)?.[1] ?? address;
}
