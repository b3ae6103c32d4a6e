import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ParsedRequest } from '../connection.js';

/** A request that waits, with the part of its body that has arrived so far. */
export interface Parsed {
  req: ParsedRequest;
  keepAlive: boolean;
}

/** A request with its whole body, as text in a tenth of the memory. 500 may be parsed before the limit is noticed. */
export type Stored = string;

const LATIN1 = 'latin1';

/** Store a request as text, or return it as it is while its body is not complete, or when it has trailers. */
export function stored(parsed: Parsed | Stored): Parsed | Stored {
  if (typeof parsed === 'string' || !parsed.req.complete || parsed.req.rawTrailers.length > 0) return parsed;
  const { req, keepAlive } = parsed;
  const { method, url, httpVersion, httpVersionMajor, httpVersionMinor, rawHeaders } = req;
  const line = { method, url, httpVersion, httpVersionMajor, httpVersionMinor };
  return JSON.stringify([line, rawHeaders, (req.read() as Buffer | null)?.toString(LATIN1) ?? null, keepAlive]);
}

/**
 * Restore a request as Node makes it.
 *
 * @param Request class of the requests of the server
 */
export function restored(text: Stored, socket: Socket, Request: typeof IncomingMessage): Parsed {
  const [line, rawHeaders, body, keepAlive] = JSON.parse(text);
  const req = Object.assign(new Request(socket), line, { upgrade: false });
  req._addHeaderLines(rawHeaders, rawHeaders.length);
  req.complete = true; // Set only now, because Node would take the headers for trailers.
  if (body !== null) req.push(body, LATIN1);
  req.push(null);
  return { req, keepAlive };
}
