import { createHash } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { endResponse, requestIdOfResponse, sendText } from '@yardmaster/server';
import type { Route } from '../route.js';
import { openApiDocument } from './document.js';
import type { Limits } from './limits.js';

/** Path of the document. */
export const OPENAPI_PATH = '/api/v1/openapi.json';

/** Five minutes: the document changes with a release or a variable, and its ETag identifies each version. */
const CACHED = 'public, max-age=300';

/**
 * Create a handler that responds with the OpenAPI document of a table of routes. The document is created once, at its
 * first request, in some 20 ms.
 */
export function createOpenApiHandler(
  routes: readonly Route[],
  limits: Limits,
): (req: IncomingMessage, res: ServerResponse) => void {
  let made: Made | null = null;
  return (req, res) => {
    made ??= make(routes, limits);
    const { text, bytes, etag } = made;
    const headers = { 'cache-control': CACHED, etag };
    // A proxy that compresses changes the ETag into a weak one, `W/"…"`.
    if (req.headers['if-none-match']?.includes(etag)) sendNotModified(res, headers);
    else sendText(res, 200, { text, bytes, headers });
  };
}

interface Made {
  text: string;
  bytes: number;
  etag: string;
}

function make(routes: readonly Route[], limits: Limits): Made {
  const text = JSON.stringify(openApiDocument(routes, limits));
  const hash = createHash('sha256').update(text).digest('base64url');
  return { text, bytes: Buffer.byteLength(text), etag: `"${hash}"` };
}

function sendNotModified(res: ServerResponse, headers: OutgoingHttpHeaders): void {
  res.writeHead(304, { 'x-request-id': requestIdOfResponse(res), ...headers });
  endResponse(res);
}
