import type { IncomingMessage, ServerResponse } from 'node:http';

/** How much of a request body that is not needed is still read, and for how long in milliseconds. */
const DISCARD_BYTES = 16 * 1_048_576;
const DISCARD_MS = 5_000;

/**
 * End a response whose head is written. The rest of the request's body is read and dropped, so that a client that is
 * still sending gets its response instead of a reset. A client that sends for ever is cut off here, because Node's own
 * time-out ends with the response.
 *
 * @param text whole body of the response; absent for a response without a body
 */
export function endResponse(res: ServerResponse, text?: string): void {
  const { req } = res;
  if (req.complete) return void res.end(text);
  discard(req);
  if (res.shouldKeepAlive) return void res.end(text);
  // Node closes such a connection at the end of the response. Bytes that arrive after that get a reset, which also
  // discards the bytes that the client has not read. So the whole response is sent now, and its end waits for the
  // request's end.
  if (text === undefined) res.flushHeaders();
  else res.write(text);
  req.once('close', () => res.end());
}

function discard(req: IncomingMessage): void {
  let bytes = 0;
  const cutOff = () => req.socket.destroy();
  const timer = setTimeout(cutOff, DISCARD_MS);
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DISCARD_BYTES) cutOff();
  });
  req.on('close', () => clearTimeout(timer));
  req.on('end', () => clearTimeout(timer));
  req.on('error', () => undefined); // The client went away, which also ends the request.
  req.resume();
}
