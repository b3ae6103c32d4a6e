import http from 'node:http';
import { attachStreams, routeIs, type Streams, sendError, UNKNOWN_ROUTE } from '@yardmaster/backend';
import { YardmasterError } from '@yardmaster/protocol';
import express, { type Express, type Request, type Response } from 'express';
import type { Direct } from './direct.js';

export interface ExpressServerOptions extends http.ServerOptions {
  /** Asked first; what it serves the app never sees. */
  direct?: Direct | undefined;
  /** Asked next. Without them their paths are the app's. */
  streams?: Streams | undefined;
}

/**
 * Make an HTTP server for an Express app whose requests and responses are born with Express' methods.
 *
 * Express gives each request and response its own prototype on arrival, and V8 forgets what it knew about an
 * object whose prototype changes: four fifths of the time of a small request went there. Here the classes that
 * Node makes them from carry Express' properties already, and the app's prototypes are those of the classes, so
 * that the change changes nothing. Plain subclasses are what is fast; instances made with a foreign prototype
 * (Reflect.construct) are slower than Express as it comes.
 */
export function createExpressServer(app: Express, options: ExpressServerOptions): http.Server {
  const { direct, streams, ...serverOptions } = options;
  class ExpressRequest extends http.IncomingMessage {}
  class ExpressResponse extends http.ServerResponse {}

  Object.defineProperties(ExpressRequest.prototype, Object.getOwnPropertyDescriptors(express.request));
  Object.defineProperties(ExpressResponse.prototype, Object.getOwnPropertyDescriptors(express.response));
  for (const { prototype } of [ExpressRequest, ExpressResponse]) {
    Object.defineProperty(prototype, 'app', { configurable: true, enumerable: true, writable: true, value: app });
  }
  // The types say Express' own interfaces; these classes have every property of theirs, by the lines above.
  app.request = ExpressRequest.prototype as unknown as Express['request'];
  app.response = ExpressResponse.prototype as unknown as Express['response'];

  // What not even the router can make sense of, such as a URL that is none, is a path that there is not.
  const unknown = (res: Response) => () => {
    routeIs(res, UNKNOWN_ROUTE);
    sendError(res, new YardmasterError('NOT_FOUND'));
  };
  const listener = (req: Request, res: Response) => {
    if (direct?.(req, res)) return;
    if (streams?.isFor(req)) streams.answer(req, res);
    else app(req, res, unknown(res));
  };
  const classes = { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
  const server = http.createServer(
    { ...serverOptions, ...classes },
    listener as unknown as http.RequestListener<typeof ExpressRequest>,
  );
  if (streams) attachStreams(server, ExpressRequest, streams);
  return server;
}
