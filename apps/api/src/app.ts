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
  /** Responds with a thrown error. */
  respondWithError: HttpDispatcher['respondWithError'];
  /** Origins whose pages may call, or `['*']`; undefined: no CORS headers at all. */
  corsOrigins: readonly string[] | undefined;
  /** Streams on the same port. Without them, their paths are unknown. */
  streams?: Streams | undefined;
}

/** Build the Express app: CORS, Host check, the router of all endpoints, streams, then 404, and one error handler for all. */
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
  /** Files of the dashboard; empty when it is off. */
  site: readonly SiteFile[];
}

/** Return all endpoints: the rows, those without a key, and the dashboard. */
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

/** Return the first page for people who open the URL of the service. */
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

/** Return the endpoints without a key: they contain nothing of a space or a job, and proxies have no key to send. */
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
 * Create an HTTP server for an Express app whose requests and responses have Express' methods from the start.
 *
 * Express gives each request and response its own prototype on arrival. V8 then drops its optimizations for that
 * object, which took four fifths of the time of a small request. Here the classes from which Node makes them have
 * Express' properties already, and the app's prototypes are those of the classes, so that the change has no effect.
 * Plain subclasses are fast; instances made with a foreign prototype (Reflect.construct) are slower than unchanged
 * Express. Delete this function when Express no longer changes prototypes; test/api/parts.test.ts then fails.
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
