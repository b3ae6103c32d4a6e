import http from 'node:http';
import { attachStreams, type Streams } from '@yardmaster/server';
import express, { type Express, type Request, type Response } from 'express';
import { respondNotFound } from './app.js';

export interface HttpServerOptions extends http.ServerOptions {
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
  const { streams, ...serverOptions } = options;
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

  const listener = (req: Request, res: Response) => {
    if (streams?.isFor(req)) streams.respond(req, res);
    else app(req, res, () => respondNotFound(res)); // Express passes on a request whose URL it cannot parse.
  };
  const classes = { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
  const server = http.createServer(
    { ...serverOptions, ...classes },
    listener as unknown as http.RequestListener<typeof ExpressRequest>,
  );
  if (streams) attachStreams(server, ExpressRequest, streams);
  return server;
}
