import { createHash } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { endResponse, requestIdOfResponse, sendText } from '@yardmaster/server';

/** Five minutes: the document changes only with a release or a variable, and its ETag identifies each version. */
const CACHED = 'public, max-age=300';

/**
 * Create a handler that serves a cacheable JSON document. The document is created once, at the first request: the OpenAPI
 * document takes about 20 ms.
 */
export function createDocumentHandler(create: () => unknown): (req: IncomingMessage, res: ServerResponse) => void {
  let written: Written | null = null;
  return (req, res) => {
    written ??= write(create());
    const { text, bytes, etag } = written;
    const headers = { 'cache-control': CACHED, etag };
    // A compressing proxy turns the ETag into a weak one, `W/"…"`.
    if (req.headers['if-none-match']?.includes(etag)) sendNotModified(res, headers);
    else sendText(res, 200, { text, bytes, headers });
  };
}

interface Written {
  text: string;
  bytes: number;
  etag: string;
}

function write(document: unknown): Written {
  const text = JSON.stringify(document);
  const hash = createHash('sha256').update(text).digest('base64url');
  return { text, bytes: Buffer.byteLength(text), etag: `"${hash}"` };
}

function sendNotModified(res: ServerResponse, headers: OutgoingHttpHeaders): void {
  res.writeHead(304, { 'x-request-id': requestIdOfResponse(res), ...headers });
  endResponse(res);
}
