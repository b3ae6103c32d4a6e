import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const ACCEPTED = /^[\x21-\x7e]{1,128}$/;

/** Return the caller's own id for a request when it fits into a log line, else a new one. */
export function requestIdOf(req: IncomingMessage): string {
  const given = req.headers['x-request-id'];
  return typeof given === 'string' && ACCEPTED.test(given) ? given : randomUUID();
}

const REQUEST_ID = Symbol('id of the request');

type Identified = ServerResponse & { [REQUEST_ID]?: string };

/** Return the id of the request that a response is for. The response carries it in the header `x-request-id`. */
export function requestIdOfResponse(res: Identified): string {
  res[REQUEST_ID] ??= requestIdOf(res.req);
  return res[REQUEST_ID];
}
