import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';
import { requestIdOfResponse } from './request.js';

/** Headers of every response except files of the dashboard, because its body is JSON and contains data of clients. */
export const COMMON: OutgoingHttpHeaders = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/** End of every body. */
export const NEWLINE = '\n';

const COMMON_LIST = Object.entries(COMMON).flat() as string[];

/** Write a whole response. Express' own `res.json` would look up settings and hash the body for each. */
export function sendJson(res: ServerResponse, status: number, value: unknown, headers?: OutgoingHttpHeaders): void {
  const text = JSON.stringify(value);
  sendText(res, status, { text, bytes: Buffer.byteLength(text), headers });
}

/** A JSON body without the newline at its end, and its size. */
export interface JsonText {
  text: string;
  bytes: number;
  headers?: OutgoingHttpHeaders | undefined;
}

/**
 * Write a whole response whose body is JSON text already. A newline follows it, so that a shell's prompt stands alone.
 */
export function sendText(res: ServerResponse, status: number, { text, bytes, headers }: JsonText): void {
  const length = bytes + NEWLINE.length;
  if ((headers === undefined || Object.keys(headers).length === 0) && res.getHeaderNames().length === 0) {
    // A list of headers is written as it is; an object, or `setHeader`, takes 2 µs more for the same result.
    res.writeHead(status, [...COMMON_LIST, 'x-request-id', requestIdOfResponse(res), 'content-length', String(length)]);
  } else {
    res.writeHead(status, { ...COMMON, ...requestIdHeader(res), ...headers, 'content-length': length });
  }
  endResponse(res, text + NEWLINE);
}

/** Write a response without a body. */
export function sendEmpty(res: ServerResponse, headers: OutgoingHttpHeaders): void {
  res.writeHead(204, { ...requestIdHeader(res), ...headers });
  endResponse(res);
}

const requestIdHeader = (res: ServerResponse) => ({ 'x-request-id': requestIdOfResponse(res) });

/** Return the body of an error response. */
export function errorBody(error: YardmasterError): Record<string, unknown> {
  return { error: error.message, code: error.code, ...error.extras };
}

/** Most seconds in Retry-After. It is random, so that refused clients do not all return at once. */
const RETRY_AFTER_AT_MOST = 5;

/** The page that explains each code. */
const ERRORS_PAGE = 'https://github.com/yardmaster/yardmaster/blob/main/docs/errors.md';

/** Return the headers of an error: a link to its explanation, and Retry-After where a retry may help. */
export function headersOf({ code, status, retryAfterSeconds }: YardmasterError): OutgoingHttpHeaders {
  const link = `<${ERRORS_PAGE}#${code.toLowerCase()}>; rel="help"`;
  const seconds = retryAfterSeconds ?? secondsFor(status);
  return seconds === null ? { link } : { link, 'retry-after': String(seconds) };
}

function secondsFor(status: number): number | null {
  if (status === 429) return 1;
  return status === 503 ? 1 + Math.floor(Math.random() * RETRY_AFTER_AT_MOST) : null;
}

/** Respond with an error of the catalog. */
export function sendError(res: ServerResponse, error: YardmasterError, headers: OutgoingHttpHeaders = {}): void {
  sendJson(res, error.status, errorBody(error), { ...headersOf(error), ...headers });
}

/** Return the error for anything that is not a YardmasterError: a bug, identified only by the request id. */
export function internalError(requestId: string): YardmasterError {
  return new YardmasterError('INTERNAL', `Internal error (request ${requestId})`);
}

/** How much of a request body that is not needed is still read, and for how long in milliseconds. */
const DISCARD_BYTES = 16 * 1_048_576;
const DISCARD_MS = 5_000;

/**
 * End a response whose head is written. The rest of the request's body is read and dropped, so that a client that is
 * still sending gets its response instead of a reset. A client that sends forever is cut off here, because Node's own
 * timeout ends with the response.
 *
 * @param body whole body of the response; absent for a response without a body
 */
export function endResponse(res: ServerResponse, body?: string | Buffer): void {
  const { req } = res;
  if (req.complete) return void res.end(body);
  discard(req);
  if (res.shouldKeepAlive) return void res.end(body);
  // Node closes such a connection at the end of the response. Bytes that arrive after that get a reset, which also
  // discards the bytes that the client has not read. So the whole response is sent now, and its end waits for the
  // request's end.
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
  req.on('error', () => undefined); // The client went away, which also ends the request.
  req.resume();
}
