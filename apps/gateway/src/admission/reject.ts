import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { YardmasterError } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import {
  checkHost,
  createOutageLog,
  internalError,
  rawResponse,
  requestIdOf,
  sendEmpty,
  sendError,
  setRoute,
} from '@yardmaster/server';
import { readStreamUrl, routeOfStream } from './caller.js';

/** Methods that a path of the streams allows. */
const ALLOW = 'OPTIONS, GET, HEAD';

/** Headers of an UPGRADE_REQUIRED response: the upgrade that it requires. */
const UPGRADE_HEADERS = { upgrade: 'websocket', 'sec-websocket-version': '13' };

/** Create the function that responds to an upgrade with an HTTP error and ends the socket. It returns the status. */
export function createRefuseUpgrade(
  log: Logger,
  stopping: AbortSignal,
): (req: IncomingMessage, socket: Duplex, thrown: unknown) => number {
  const logOutage = createOutageLog(log);
  return (req, socket, thrown) => {
    const requestId = requestIdOf(req);
    const error = thrown instanceof YardmasterError ? thrown : internalError(requestId);
    // The query must not be logged, even if it is misspelt, because it contains the token.
    const fields = { requestId, path: req.url?.split(/[?&;]/)[0], code: error.code };
    if (error.code === 'INTERNAL') log.error({ ...fields, err: thrown }, 'stream failed');
    else if (error.status >= 500 && !stopping.aborted) logOutage(error, fields);
    else log.debug(fields, 'stream refused');
    const headers = error.code === 'UPGRADE_REQUIRED' ? UPGRADE_HEADERS : {};
    socket.once('finish', () => socket.destroy());
    socket.end(rawResponse(error, { headers, requestId }));
    return error.status;
  };
}

/** Respond to a request without an upgrade, or with an upgrade to a protocol other than WebSocket. */
export function respondToPlainRequest(req: IncomingMessage, res: ServerResponse): void {
  setRoute(res, routeOfStream(req.url as string));
  try {
    checkHost(req);
    readStreamUrl(req.url as string);
  } catch (error) {
    sendError(res, error as YardmasterError); // The two checks throw nothing else.
    return;
  }
  if (req.method === 'OPTIONS') sendEmpty(res, { allow: ALLOW });
  else if (req.method === 'GET' || req.method === 'HEAD')
    sendError(res, new YardmasterError('UPGRADE_REQUIRED'), { ...UPGRADE_HEADERS, connection: connectionOf(res) });
  else sendError(res, new YardmasterError('METHOD_NOT_ALLOWED', `Allowed here: ${ALLOW}`), { allow: ALLOW });
}

/** Return the Connection header. It repeats `close`, because Node forgets the close when the header is set by hand. */
const connectionOf = ({ shouldKeepAlive }: ServerResponse) => (shouldKeepAlive ? 'upgrade' : 'upgrade, close');
