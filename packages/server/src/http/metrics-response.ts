import type { ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { endResponse } from './end-response.js';
import { requestIdOfResponse } from './request-id.js';
import { COMMON } from './response.js';

/** Respond to a scrape, in the text format of Prometheus. */
export async function respondWithMetrics(res: ServerResponse, registry: Registry): Promise<void> {
  const text = await registry.metrics();
  res.writeHead(200, {
    ...COMMON,
    'x-request-id': requestIdOfResponse(res),
    'content-type': registry.contentType,
    'content-length': Buffer.byteLength(text),
  });
  endResponse(res, text);
}
