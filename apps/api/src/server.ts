import type { Server } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';
import type { Express } from 'express';
import { errorBody } from './answer.js';
import { createExpressServer } from './fast-express.js';

/** The HTTP server of an app, with the time-outs that keep slow and endless requests from piling up. */
export function createServer(app: Express): Server {
  const server = createExpressServer(app, {
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    // Longer than a load balancer keeps an idle connection (60 s is common), so that it is never we who hang up on one.
    keepAliveTimeout: 75_000,
    connectionsCheckingInterval: 2_000,
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    socket.end(rawRefusal(error.code));
  });
  return server;
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
  return `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}
