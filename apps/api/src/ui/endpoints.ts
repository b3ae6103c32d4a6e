import type { OutgoingHttpHeaders } from 'node:http';
import { endResponse, requestIdOfResponse } from '@yardmaster/server';
import type { Request, Response } from 'express';
import type { Endpoint } from '../router.js';
import type { SiteFile } from './site.js';

/** Path of the dashboard. Its pages are told apart by the hash of the URL, which no browser sends. */
export const UI_PATH = '/ui/';

/** Routes in the metrics. All assets are one, because their names change with each release. */
const PAGE_ROUTE = '/ui';
const ASSETS_ROUTE = '/ui/assets';

/**
 * Headers of each response. The pages load only files and data of their own origin, and no other site may show them in a
 * frame. `connect-src 'self'` covers WebSockets too (CSP 3), in Chrome 71, Firefox 50, Safari 16 and later.
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

/** The name of an asset contains a hash of its content, so a new release asks for other names. */
const FOREVER = 'public, max-age=31536000, immutable';
const ASK_EACH_TIME = 'no-cache';

/**
 * Return an endpoint for each file of the dashboard. They need no key, because the files contain no data. Other paths
 * do not exist: no path of a request reaches the file system.
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
  // The router ignores a slash at the end. Here it decides what the relative URLs of the page mean.
  respond: (req, res) => (req.path.endsWith('/') ? sendFile(req, res, file, ASK_EACH_TIME) : redirectToSlash(res)),
});

/** Send a file in the encoding that the client prefers. All responses share its bytes, so a slow client costs no copy. */
function sendFile(req: Request, res: Response, file: SiteFile, cacheControl: string): void {
  const gzip = req.acceptsEncodings('gzip', 'identity') === 'gzip' ? file.gzip : null;
  const { bytes, etag } = gzip ?? file.plain;
  res.vary('Accept-Encoding'); // CORS may have set `Vary: Origin`.
  // A proxy that changes the encoding makes the ETag a weak one, `W/"…"`.
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

/** Redirect to the path with a slash. The location is relative, because a proxy may have removed a first part of the path. */
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
