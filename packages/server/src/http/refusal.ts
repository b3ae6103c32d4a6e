import { randomUUID } from 'node:crypto';
import { type OutgoingHttpHeaders, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { YardmasterError } from '@yardmaster/protocol';
import type { RequestMetrics } from '../metrics/http.js';
import { currentResponseOf } from './connection.js';
import { COMMON, errorBody, headersOf, NEWLINE } from './exchange.js';

/** Refuse input that isn't an HTTP request, once per connection, with a response that says why. */
export function refuseInvalidInput(server: Server, requests: RequestMetrics): void {
  /** Sockets that have been refused, possibly after pending responses. */
  const refused = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    // All input after an invalid request is invalid as well, and each chunk emits this event.
    if (refused.has(socket)) return;
    refused.add(socket);
    const { refusal, status } = refusalOf(error.code);
    requests.refused(socket, status);
    refuseWhenIdle(socket, rawResponse(refusal, { status }));
  });
}

/**
 * Refuse input on a socket once all earlier requests have their responses. Written immediately, the refusal would be
 * mistaken for the response to the first of them.
 */
export function refuseWhenIdle(socket: Duplex, refusal: string): void {
  if (socket.destroyed) return;
  const current = currentResponseOf(socket);
  // An incomplete request is the invalid one, and its response would wait for a body that never arrives.
  if (current?.req.complete) current.once('finish', () => refuseWhenIdle(socket, refusal));
  else socket.end(refusal);
}

/** Return the error for input that could not be parsed as a request. */
function refusalOf(code: string | undefined): { refusal: YardmasterError; status: number } {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { refusal: new YardmasterError('REQUEST_TIMEOUT'), status: 408 };
  if (code === 'HPE_HEADER_OVERFLOW')
    return { refusal: new YardmasterError('INVALID_REQUEST', 'headers must be at most 16 KB'), status: 431 };
  return { refusal: new YardmasterError('INVALID_REQUEST', 'request must be valid HTTP/1.1'), status: 400 };
}

export interface RawResponseOptions {
  /** Status to send instead of the error's own. */
  status?: number;
  headers?: OutgoingHttpHeaders;
  requestId?: string;
}

/**
 * Format an error as a complete HTTP response, for sockets without a response object: after input that could not be parsed,
 * or a refused upgrade. The connection must be closed after it.
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
