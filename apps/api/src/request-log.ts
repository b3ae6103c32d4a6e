import type { Server } from 'node:http';
import { requestIdOfResponse } from '@yardmaster/backend';
import type { Logger } from '@yardmaster/runtime';

/** Log each request of a server once it is answered, at debug; where that is not wanted, it costs nothing. */
export function logRequests(server: Server, log: Logger): void {
  if (!log.isLevelEnabled('debug')) return;
  server.prependListener('request', (req, res) => {
    const began = performance.now();
    const requestId = requestIdOfResponse(res);
    const { method, url } = req;
    res.on('close', () => {
      const line = { requestId, method, path: url?.split('?')[0], status: res.statusCode };
      log.debug({ ...line, ms: performance.now() - began }, 'request done');
    });
  });
}
