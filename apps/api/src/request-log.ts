import type { Server } from 'node:http';
import { requestIdOfResponse } from '@yardmaster/backend';
import type { Logger } from '@yardmaster/runtime';
import type { Request } from 'express';

/** Log each request of a server once it is answered, at debug; where that is not wanted, it costs nothing. */
export function logRequests(server: Server, log: Logger): void {
  if (!log.isLevelEnabled('debug')) return;
  server.prependListener('request', (req, res) => {
    const began = performance.now();
    const requestId = requestIdOfResponse(res);
    const { method, path } = req as Request; // As all requests of the server are born.
    res.on('close', () => {
      const line = { requestId, method, path, status: res.statusCode };
      log.debug({ ...line, ms: performance.now() - began }, 'request done');
    });
  });
}
