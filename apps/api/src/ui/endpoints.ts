import type { OutgoingHttpHeaders } from 'node:http';
import { endResponse, requestIdOfResponse } from '@yardmaster/server';
import type { Request, Response } from 'express';
import type { Endpoint } from '../router.js';
import type { SiteFile } from './site.js';

/** Path of the dashboard. Its pages differ only in the hash of the URL, which browsers don't send. */
export const UI_PATH = '/ui/';

/** Route labels in the metrics. All assets share one, because their names change with each release. */
const PAGE_ROUTE = '/ui';
const ASSETS_ROUTE = '/ui/assets';

/**
 * Security headers of every response. Pages load only files and data from their own origin, and no other site may embed
 * them in a frame. `connect-src 'self'` includes WebSockets (CSP 3) since Chrome 71, Firefox 50 and Safari 16.
 */
const PROTECTION: OutgoingHttpHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

/** For assets, whose names contain a hash of their content: a new release requests other names. */
const FOREVER = 'public, max-age=31536000, immutable';
const ASK_EACH_TIME = 'no-cache';

/**
 * Return an endpoint for each file of the dashboard. They need no key, because the files contain no data. Request paths
 * never reach the file system.
 */
export function uiEndpoints(site: readonly SiteFile[]): Endpoint[] {
  return site.map((file) => (file.path === '' ? pageEndpoint(file) : assetEndpoint(file)));
}

const assetEndpoint = (file: SiteFile): Endpoint => ({
  method: 'GET',
  path: UI_PATH + file.path,
  route: ASSETS_ROUTE,
  respond: (req, res) => sendFile(req, res, file, FOREVER),
});

const pageEndpoint = (file: SiteFile): Endpoint => ({
  method: 'GET',
  path: UI_PATH,
  route: PAGE_ROUTE,
  // The router ignores a trailing slash, but the relative URLs of the page depend on it.
  respond: (req, res) => (req.path.endsWith('/') ? sendFile(req, res, file, ASK_EACH_TIME) : redirectToSlash(res)),
});

/** Send a file in the client's preferred encoding. All responses share its bytes, so a slow client costs no copy. */
function sendFile(req: Request, res: Response, file: SiteFile, cacheControl: string): void {
  const gzip = req.acceptsEncodings('gzip', 'identity') === 'gzip' ? file.gzip : null;
  const { bytes, etag } = gzip ?? file.plain;
  res.vary('Accept-Encoding'); // CORS may have set `Vary: Origin`.
  // A proxy that changes the encoding turns the ETag into a weak one, `W/"…"`.
  const isKnown = req.headers['if-none-match']?.includes(etag) === true;
  const encoding = gzip === null ? {} : { 'content-encoding': 'gzip' };
  const ofBody = { 'content-type': file.contentType, ...encoding, 'content-length': bytes.length };
  res.writeHead(isKnown ? 304 : 200, {
    ...PROTECTION,
    'x-request-id': requestIdOfResponse(res),
    'cache-control': cacheControl,
    etag,
    ...(isKnown ? {} : ofBody),
  });
  endResponse(res, isKnown ? undefined : bytes);
}

/** Redirect to the path with a slash. The location is relative, because a proxy may have stripped a prefix of the path. */
function redirectToSlash(res: Response): void {
  res.writeHead(308, {
    ...PROTECTION,
    'x-request-id': requestIdOfResponse(res),
    'cache-control': ASK_EACH_TIME,
    location: 'ui/',
    'content-length': 0,
  });
  endResponse(res);
}
