import { checkParameters, streamMessageSchema, YardmasterError } from '@yardmaster/protocol';
import {
  checkHost,
  createCors,
  type Health,
  PROBES,
  respondToCheck,
  sendError,
  sendJson,
  setRoute,
  UNKNOWN_ROUTE,
} from '@yardmaster/server';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { asyncApiDocument } from './openapi/asyncapi.js';
import { type Limits, openApiDocument } from './openapi/document.js';
import { createDocumentHandler } from './openapi/handler.js';
import { createRouter, type Endpoint } from './router.js';
import { ROUTES } from './routes/index.js';
import type { Route } from './routes/route.js';
import type { Serving } from './serve.js';
import { UI_PATH, uiEndpoints } from './ui/endpoints.js';
import type { SiteFile } from './ui/site.js';
import { FEATURES, VERSION } from './version.js';

export interface AppOptions {
  endpoints: readonly Endpoint[];
  /** Responds with a thrown error. */
  refuse: Serving['refuse'];
  /** Origins whose pages may call, or `['*']`; undefined: no CORS headers at all. */
  corsOrigins: readonly string[] | undefined;
}

/** Build the Express app: Host check, CORS, the router of all endpoints, then 404, and one error handler for all. */
export function createApp({ endpoints, refuse, corsOrigins }: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  const router = createRouter(endpoints);
  if (corsOrigins !== undefined) app.use(createCors(corsOrigins));
  app.use((req, res, next) => {
    checkHost(req);
    return router(req, res, next);
  });
  app.use((_req, res) => respondNotFound(res));
  // Express recognizes an error handler by its four parameters.
  app.use((thrown: unknown, req: Request, res: Response, _next: NextFunction) => refuse(thrown, req, res));
  return app;
}

/** Respond to a request for a path that does not exist. */
export function respondNotFound(res: Response): void {
  setRoute(res, UNKNOWN_ROUTE);
  sendError(res, new YardmasterError('NOT_FOUND'));
}

export interface EndpointOptions {
  routes: readonly Route[];
  serve: Serving['serve'];
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
