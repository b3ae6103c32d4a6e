import http from 'node:http';
import { checkParameters, streamMessageSchema, YardmasterError } from '@yardmaster/protocol';
import {
  attachStreams,
  checkFraming,
  createCors,
  type Health,
  PROBES,
  respondToCheck,
  type Streams,
  sendError,
  sendJson,
  setRoute,
  UNKNOWN_ROUTE,
} from '@yardmaster/server';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { HttpDispatcher } from './dispatch.js';
import { asyncApiDocument } from './openapi/asyncapi.js';
import { type Limits, openApiDocument } from './openapi/document.js';
import { createDocumentHandler } from './openapi/handler.js';
import { createRouter, type Endpoint } from './router.js';
import { ROUTES } from './routes/index.js';
import type { Route } from './routes/route.js';
import { UI_PATH, uiEndpoints } from './ui/endpoints.js';
import type { SiteFile } from './ui/site.js';
import { FEATURES, VERSION } from './version.js';

export interface AppOptions {
  endpoints: readonly Endpoint[];
  /** Turns a thrown error into a response. */
  respondWithError: HttpDispatcher['respondWithError'];
  /** Origins whose pages may call, or `['*']`; undefined for no CORS headers at all. */
  corsOrigins: readonly string[] | undefined;
  /** Streams on the same port. Without them, their paths are unknown. */
  streams?: Streams | undefined;
}

/** Create the Express app: CORS, framing check, router, streams, 404, and a single error handler. */
export function createApp({ endpoints, respondWithError, corsOrigins, streams }: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  const router = createRouter(endpoints);
  if (corsOrigins !== undefined) app.use(createCors(corsOrigins));
  app.use((req, res, next) => {
    checkFraming(req);
    return router(req, res, next);
  });
  if (streams !== undefined) {
    app.use((req, res, next) => (streams.isFor(req) ? streams.respond(req, res) : next()));
  }
  app.use((_req, res) => respondNotFound(res));
  // Express recognizes an error handler by its four parameters.
  app.use((thrown: unknown, req: Request, res: Response, _next: NextFunction) => respondWithError(thrown, req, res));
  return app;
}

/** Respond to a request for a path that does not exist. */
export function respondNotFound(res: Response): void {
  setRoute(res, UNKNOWN_ROUTE);
  sendError(res, new YardmasterError('NOT_FOUND'));
}

export interface EndpointOptions {
  routes: readonly Route[];
  serve: HttpDispatcher['serve'];
  /** State that the probes report. */
  health: Health;
  /** Limits of this process, for the OpenAPI document. */
  limits: Limits;
  /** Files of the dashboard; empty if it is off. */
  site: readonly SiteFile[];
}

/** Return all endpoints: the rows, those that need no key, and the dashboard. */
export function endpointsOf({ routes, serve, health, limits, site }: EndpointOptions): Endpoint[] {
  const rows = routes.map((route): Endpoint => {
    return { method: route.method, path: route.path, respond: (_req, res, params) => serve(route, params, res) };
  });
  return [...rows, ...openEndpoints(health, limits, startPage(site.length > 0)), ...uiEndpoints(site)];
}

const OPENAPI_PATH = '/api/v1/openapi.json';
const ASYNCAPI_PATH = '/api/v1/asyncapi.json';
const INFO_PATH = '/api/v1/info';
const STREAMS_PATH = '/api/v1/streams.schema.json';

/** Return the start page for people who open the URL of the service. */
const startPage = (hasUi: boolean) => ({
  name: 'yardmaster',
  version: VERSION,
  links: {
    ...(hasUi ? { ui: UI_PATH } : {}),
    info: INFO_PATH,
    openapi: OPENAPI_PATH,
    asyncapi: ASYNCAPI_PATH,
    streams: STREAMS_PATH,
    livez: '/livez',
    readyz: '/readyz',
    metrics: '/metrics',
  },
});

const INFO = { service: 'yardmaster', version: VERSION, features: FEATURES };

/** Return the endpoints that need no key. They reveal nothing about spaces or jobs, and proxies have no key to send. */
function openEndpoints(health: Health, limits: Limits, start: object): Endpoint[] {
  const probes = PROBES.map((path): Endpoint => {
    return { method: 'GET', path, respond: (_req, res) => respondToCheck(res, path, health) };
  });
  const documents: [path: string, respond: Endpoint['respond']][] = [
    [INFO_PATH, (_req, res) => sendJson(res, 200, INFO)],
    [OPENAPI_PATH, createDocumentHandler(() => openApiDocument(ROUTES, limits))],
    [ASYNCAPI_PATH, createDocumentHandler(asyncApiDocument)],
    [STREAMS_PATH, createDocumentHandler(streamMessageSchema)],
  ];
  return [
    { method: 'GET', path: '/', respond: (_req, res) => sendJson(res, 200, start) },
    ...documents.map(([path, respond]): Endpoint => ({ method: 'GET', path, respond: withoutParameters(respond) })),
    ...probes,
  ];
}

const withoutParameters =
  (respond: Endpoint['respond']): Endpoint['respond'] =>
  (req, res, params) => {
    checkParameters(Object.keys(req.query), []);
    return respond(req, res, params);
  };

export interface HttpServerOptions extends http.ServerOptions {
  /** Streams on the same port. Without them, their paths are unknown. */
  streams?: Streams | undefined;
}

/**
 * Create an HTTP server for an Express app whose requests and responses have Express's methods from the start.
 *
 * Express replaces the prototype of each request and response on arrival. V8 then drops its optimizations for the object,
 * which cost four fifths of the time of a small request. Here, the classes that Node instantiates already have Express's
 * properties, and the app's prototypes are those of the classes, so that the replacement has no effect. Plain subclasses
 * are fast; instances with a foreign prototype (Reflect.construct) are slower than plain Express. Delete this function
 * when Express no longer replaces prototypes; test/api/parts.test.ts then fails.
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
  // The types require Express's own interfaces; the lines above give these classes all of their properties.
  app.request = ExpressRequest.prototype as unknown as Express['request'];
  app.response = ExpressResponse.prototype as unknown as Express['response'];

  // Express passes on a request whose URL it cannot parse.
  const listener = (req: Request, res: Response) => app(req, res, () => respondNotFound(res));
  const classes = { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
  const server = http.createServer(
    { ...serverOptions, ...classes },
    listener as unknown as http.RequestListener<typeof ExpressRequest>,
  );
  if (streams) attachStreams(server, ExpressRequest, streams);
  return server;
}
