import http from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';
import { attachStreams, checkHost, type Streams, sendError, setRoute, UNKNOWN_ROUTE } from '@yardmaster/server';
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import type { Serving } from './serve.js';

export interface HttpServerOptions extends http.ServerOptions {
  /** Serves requests before the app; calls `next` for those that the app must serve. */
  bypass?: RequestHandler | undefined;
  /** Streams on the same port. Without them, their paths are unknown. */
  streams?: Streams | undefined;
}

/**
 * Create an HTTP server for an Express app whose requests and responses have Express' methods from the start.
 *
 * Express gives each request and response its own prototype on arrival. V8 then drops its optimizations for that
 * object, which took four fifths of the time of a small request. Here the classes from which Node makes them have
 * Express' properties already, and the app's prototypes are those of the classes, so that the change has no effect.
 * Plain subclasses are fast; instances made with a foreign prototype (Reflect.construct) are slower than unchanged
 * Express. Delete this module when Express no longer changes prototypes; test/api/parts.test.ts then fails.
 */
export function createHttpServer(app: Express, options: HttpServerOptions): http.Server {
  const { bypass, streams, ...serverOptions } = options;
  class ExpressRequest extends http.IncomingMessage {}
  class ExpressResponse extends http.ServerResponse {}

  Object.defineProperties(ExpressRequest.prototype, Object.getOwnPropertyDescriptors(express.request));
  Object.defineProperties(ExpressResponse.prototype, Object.getOwnPropertyDescriptors(express.response));
  for (const { prototype } of [ExpressRequest, ExpressResponse]) {
    Object.defineProperty(prototype, 'app', { configurable: true, enumerable: true, writable: true, value: app });
  }
  // The types require Express' own interfaces; by the lines above, these classes have every property of them.
  app.request = ExpressRequest.prototype as unknown as Express['request'];
  app.response = ExpressResponse.prototype as unknown as Express['response'];

  // The router passes on a request that it cannot parse, for example with an invalid URL. Such a path does not exist.
  const respondNotFound = (res: Response) => () => {
    setRoute(res, UNKNOWN_ROUTE);
    sendError(res, new YardmasterError('NOT_FOUND'));
  };
  const listener = (req: Request, res: Response) => {
    if (streams?.isFor(req)) streams.respond(req, res);
    else if (bypass !== undefined) bypass(req, res, () => app(req, res, respondNotFound(res)));
    else app(req, res, respondNotFound(res));
  };
  const classes = { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
  const server = http.createServer(
    { ...serverOptions, ...classes },
    listener as unknown as http.RequestListener<typeof ExpressRequest>,
  );
  if (streams) attachStreams(server, ExpressRequest, streams);
  return server;
}

/**
 * Create a handler that serves known endpoints as the app does, but without Express, which makes a dozen closures for
 * each request. It replaces the app's own steps for such requests, except CORS, and saves about 4% of the API's CPU per
 * job (docs/decisions/026). Delete it when Express adds less than 2%.
 */
export function bypassExpress(router: RequestHandler, refuse: Serving['refuse']): RequestHandler {
  return (req, res, next) => {
    const fail = (thrown: unknown) => {
      try {
        refuse(thrown, req, res);
      } catch {
        res.destroy(); // Express does the same. No other code handles this error.
      }
    };
    try {
      checkHost(req);
      // Do not await it, because that would cost each call two more promises.
      (router(req, res, next) as Promise<void> | undefined)?.catch(fail);
    } catch (thrown) {
      fail(thrown);
    }
  };
}
