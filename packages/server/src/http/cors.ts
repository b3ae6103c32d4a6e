import type { IncomingMessage, ServerResponse } from 'node:http';
import cors from 'cors';

/** Response headers that pages of other origins may read. */
const EXPOSED = [
  ...['x-request-id', 'retry-after', 'ratelimit', 'ratelimit-policy'],
  ...['x-ignored-fields', 'preference-applied', 'idempotent-replayed', 'x-next-cursor', 'link'],
];

/** Sets the CORS headers of a response and continues. */
export type SetCors = (req: IncomingMessage, res: ServerResponse, next: () => void) => void;

/**
 * Create the function that lets pages of other origins read responses. It allows any request header. It doesn't answer
 * preflight requests, which get 204 with `Allow` like every OPTIONS, or 404 for an unknown path.
 *
 * @param origins allowed origins, or `['*']`; undefined for no CORS headers at all
 */
export function createCors(origins: readonly string[] | undefined): SetCors {
  if (origins === undefined) return (_req, _res, next) => next();
  const origin = origins.includes('*') ? '*' : [...origins];
  return cors({ origin, exposedHeaders: EXPOSED, maxAge: 600, preflightContinue: true }) as SetCors;
}
