import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { YardmasterError } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import {
  checkFraming,
  createOutageLog,
  internalError,
  rawResponse,
  sendEmpty,
  sendError,
  setRoute,
} from '@yardmaster/server';
import { parseStreamUrl, routeOfStream } from './stream-request.js';

/** Methods that stream paths support. */
const ALLOW = 'OPTIONS, GET, HEAD';

/** Headers of an UPGRADE_REQUIRED response. */
const UPGRADE_HEADERS = { upgrade: 'websocket', 'sec-websocket-version': '13' };

/** Converts what was thrown while opening a stream into the error to respond with, and logs it. */
export type ReportRefusal = (req: IncomingMessage, requestId: string, thrown: unknown) => YardmasterError;

export function createRefusalReport(log: Logger, stopping: AbortSignal): ReportRefusal {
  const logOutage = createOutageLog(log);
  return (req, requestId, thrown) => {
    const error = thrown instanceof YardmasterError ? thrown : internalError(requestId);
    // Never log the query, even a malformed one, because it contains the token.
    const fields = { requestId, path: req.url?.split(/[?&;]/)[0], code: error.code };
    if (error.code === 'INTERNAL') log.error({ ...fields, err: thrown }, 'stream failed');
    else if (error.status >= 500 && !stopping.aborted) logOutage(error, fields);
    else log.debug(fields, 'stream refused');
    return error;
  };
}

/** Respond to an upgrade with an HTTP error and close the socket. */
export function refuseUpgrade(socket: Duplex, error: YardmasterError, requestId: string): void {
  const headers = error.code === 'UPGRADE_REQUIRED' ? UPGRADE_HEADERS : {};
  socket.once('finish', () => socket.destroy());
  socket.end(rawResponse(error, { headers, requestId }));
}

/** Respond to a request on a stream path that asks for neither a WebSocket nor an event stream. */
export function respondToPlainRequest(req: IncomingMessage, res: ServerResponse): void {
  setRoute(res, routeOfStream(req.url as string));
  try {
    checkFraming(req);
    parseStreamUrl(req.url as string);
  } catch (error) {
    sendError(res, error as YardmasterError); // The two checks throw no other errors.
    return;
  }
  if (req.method === 'OPTIONS') sendEmpty(res, { allow: ALLOW });
  else if (req.method === 'GET' || req.method === 'HEAD')
    sendError(res, new YardmasterError('UPGRADE_REQUIRED'), { ...UPGRADE_HEADERS, connection: connectionOf(res) });
  else sendError(res, new YardmasterError('METHOD_NOT_ALLOWED', `Allowed here: ${ALLOW}`), { allow: ALLOW });
}

/** Return the Connection header. Includes `close`, which Node drops if the header is set by hand. */
const connectionOf = ({ shouldKeepAlive }: ServerResponse) => (shouldKeepAlive ? 'upgrade' : 'upgrade, close');
