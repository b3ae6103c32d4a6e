import { randomUUID } from 'node:crypto';
import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { YardmasterError } from '@yardmaster/protocol';
import type { Express } from 'express';
import { COMMON, errorBody } from './answer.js';
import { createExpressServer } from './fast-express.js';

/** The HTTP server of an app, with the time-outs that keep slow and endless requests from piling up. */
export function createServer(app: Express): Server {
  const server = createExpressServer(app, {
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    // Longer than a load balancer keeps an idle connection (60 s is common), so that it is never we who hang up on one.
    keepAliveTimeout: 75_000,
    connectionsCheckingInterval: 2_000,
    requireHostHeader: false, // The app refuses it, with a body that says why.
  });
  // No byte sent or read for so long while a request is open: the client does not read its answer.
  server.timeout = 30_000;
  // An expectation that we do not know may be ignored; Node's 417 would have no body.
  server.on('checkExpectation', app);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    refuseWhenIdle(socket, rawRefusal(error.code));
  });
  return server;
}

/**
 * Refuse what came in on a socket behind other requests, once those are answered: written at once, the refusal
 * would pass for the answer to the first of them.
 */
function refuseWhenIdle(socket: Duplex, refusal: string): void {
  // Node's own note of the response that has the socket; there is no public one.
  const { _httpMessage: open } = socket as Duplex & { _httpMessage?: ServerResponse | null };
  // When the request is not complete, it is the broken one, and its answer waits for a body that never comes.
  if (open?.req.complete) open.once('finish', () => refuseWhenIdle(socket, refusal));
  else socket.end(refusal);
}

/** An answer for what could not be parsed as a request: it never reached Express. */
function rawRefusal(code: string | undefined): string {
  const late = code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const error = late
    ? new YardmasterError('REQUEST_TIMEOUT')
    : new YardmasterError(
        'INVALID_REQUEST',
        code === 'HPE_HEADER_OVERFLOW' ? 'headers must be at most 16 KB' : 'request must be valid HTTP/1.1',
      );
  const status =
    code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : late
        ? '408 Request Timeout'
        : '400 Bad Request';
  const body = JSON.stringify(errorBody(error));
  const headers = {
    ...COMMON,
    'x-request-id': randomUUID(),
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `HTTP/1.1 ${[status, ...lines].join('\r\n')}\r\n\r\n${body}`;
}
