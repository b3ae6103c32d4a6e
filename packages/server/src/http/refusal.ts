import { randomUUID } from 'node:crypto';
import { type OutgoingHttpHeaders, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { YardmasterError } from '@yardmaster/protocol';
import type { RequestMetrics } from '../metrics/http.js';
import { currentResponseOf } from './connection.js';
import { COMMON, errorBody, headersOf, NEWLINE } from './exchange.js';

/** Refuse input that is not an HTTP request, once for each connection, with a response that says why. */
export function refuseInvalidInput(server: Server, requests: RequestMetrics): void {
  /** Sockets whose refusal waits for the responses before it. */
  const refused = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    // All input after an invalid request is invalid as well, and each piece causes this event.
    if (refused.has(socket)) return;
    refused.add(socket);
    const { refusal, status } = refusalOf(error.code);
    requests.refused(socket, status);
    refuseWhenIdle(socket, rawResponse(refusal, { status }));
  });
}

/**
 * Refuse input that arrived on a socket after other requests, once those have their responses. If it were written at
 * once, the refusal would be taken for the response to the first of them.
 */
export function refuseWhenIdle(socket: Duplex, refusal: string): void {
  if (socket.destroyed) return;
  const current = currentResponseOf(socket);
  // An incomplete request is the broken one, and its response waits for a body that never comes.
  if (current?.req.complete) current.once('finish', () => refuseWhenIdle(socket, refusal));
  else socket.end(refusal);
}

/** Return the refusal of input that could not be parsed as a request. */
function refusalOf(code: string | undefined): { refusal: YardmasterError; status: number } {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { refusal: new YardmasterError('REQUEST_TIMEOUT'), status: 408 };
  if (code === 'HPE_HEADER_OVERFLOW')
    return { refusal: new YardmasterError('INVALID_REQUEST', 'headers must be at most 16 KB'), status: 431 };
  return { refusal: new YardmasterError('INVALID_REQUEST', 'request must be valid HTTP/1.1'), status: 400 };
}

export interface RawResponseOptions {
  /** Status line to send instead of the error's own status. */
  status?: number;
  headers?: OutgoingHttpHeaders;
  requestId?: string;
}

/**
 * Return an error as the text of a whole HTTP response, for sockets that have no response object. These are for input
 * that could not be parsed, and for refused upgrades. The connection ends with it.
 */
export function rawResponse(error: YardmasterError, options: RawResponseOptions = {}): string {
  const { status = error.status, headers = {}, requestId = randomUUID() } = options;
  const body = JSON.stringify(errorBody(error)) + NEWLINE;
  const all = {
    ...COMMON,
    ...headersOf(error),
    ...headers,
    'x-request-id': requestId,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}
