import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  checkHost,
  createOutageLog,
  internalError,
  rawAnswer,
  requestIdOf,
  routeIs,
  sendEmpty,
  sendError,
} from '@yardmaster/backend';
import { YardmasterError } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import { readStreamUrl, routeOfStream } from './path.js';

/** What may be asked of a path of the streams. */
const ALLOW = 'OPTIONS, GET, HEAD';

/** What an UPGRADE_REQUIRED asks for. */
const UPGRADE = { upgrade: 'websocket', 'sec-websocket-version': '13' };

/** Make the function that answers an upgrade with an error, as HTTP, and ends its socket; it returns the status. */
export function createRefusal(
  log: Logger,
  stopping: AbortSignal,
): (req: IncomingMessage, socket: Duplex, thrown: unknown) => number {
  const logOutage = createOutageLog(log);
  return (req, socket, thrown) => {
    const requestId = requestIdOf(req);
    const error = thrown instanceof YardmasterError ? thrown : internalError(requestId);
    // Not the query, however it is misspelt: it holds the token.
    const line = { requestId, path: req.url?.split(/[?&;]/)[0], code: error.code };
    if (error.code === 'INTERNAL') log.error({ ...line, err: thrown }, 'stream failed');
    else if (error.status >= 500 && !stopping.aborted) logOutage(error, line);
    else log.debug(line, 'stream refused');
    const headers = error.code === 'UPGRADE_REQUIRED' ? UPGRADE : {};
    socket.once('finish', () => socket.destroy());
    socket.end(rawAnswer(error, { headers, requestId }));
    return error.status;
  };
}

/** Answer a request that came without an upgrade, or with one that is not to WebSocket. */
export function answerPlain(req: IncomingMessage, res: ServerResponse): void {
  routeIs(res, routeOfStream(req.url as string));
  try {
    checkHost(req);
    readStreamUrl(req.url as string);
  } catch (error) {
    sendError(res, error as YardmasterError); // They throw nothing else.
    return;
  }
  if (req.method === 'OPTIONS') sendEmpty(res, { allow: ALLOW });
  else if (req.method === 'GET' || req.method === 'HEAD')
    sendError(res, new YardmasterError('UPGRADE_REQUIRED'), { ...UPGRADE, connection: connectionOf(res) });
  else sendError(res, new YardmasterError('METHOD_NOT_ALLOWED', `Allowed here: ${ALLOW}`), { allow: ALLOW });
}

/** A header that is set by hand makes Node forget that the connection is to end. */
const connectionOf = ({ shouldKeepAlive }: ServerResponse) => (shouldKeepAlive ? 'upgrade' : 'upgrade, close');
