import type { Server } from 'node:http';
import type { Logger } from '@yardmaster/runtime';
import { requestIdOfResponse } from '@yardmaster/server';
import type { Request } from 'express';

/** Log each request of a server after its response, at level debug. At other levels it costs nothing. */
export function logRequests(server: Server, log: Logger): void {
  if (!log.isLevelEnabled('debug')) return;
  server.prependListener('request', (req, res) => {
    const began = performance.now();
    const requestId = requestIdOfResponse(res);
    const { method, path } = req as Request; // All requests of this server are Express requests.
    res.on('close', () => {
      const line = { requestId, method, path, status: res.statusCode };
      log.debug({ ...line, ms: performance.now() - began }, 'request done');
    });
  });
}
