import type { ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { COMMON } from './answer.js';
import { endAnswer } from './end-answer.js';
import { requestIdOfResponse } from './request-id.js';

/** Answer a scrape, in the text format of Prometheus. */
export async function answerMetrics(res: ServerResponse, registry: Registry): Promise<void> {
  const text = await registry.metrics();
  res.writeHead(200, {
    ...COMMON,
    'x-request-id': requestIdOfResponse(res),
    'content-type': registry.contentType,
    'content-length': Buffer.byteLength(text),
  });
  endAnswer(res, text);
}
