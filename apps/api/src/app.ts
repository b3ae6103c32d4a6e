import { streamMessageSchema, YardmasterError } from '@yardmaster/protocol';
import {
  checkHost,
  type Health,
  PROBES,
  respondToCheck,
  sendError,
  sendJson,
  setRoute,
  UNKNOWN_ROUTE,
} from '@yardmaster/server';
import cors from 'cors';
import express, { type Express, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { type Limits, openApiDocument } from './openapi/document.js';
import { createDocumentHandler } from './openapi/handler.js';
import type { Endpoint } from './router.js';
import { ROUTES } from './routes/index.js';
import type { Serving } from './serve.js';
import { VERSION } from './version.js';

export interface AppOptions {
  router: RequestHandler;
  /** Responds with a thrown error. */
  refuse: Serving['refuse'];
  /** Origins whose pages may call, or `['*']`; undefined: no CORS headers at all. */
  corsOrigins: readonly string[] | undefined;
}

/** Build the Express app: Host check, CORS, the router of all endpoints, then 404, and one error handler for all. */
export function createApp({ router, refuse, corsOrigins }: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');

  app.use((req, _res, next) => {
    checkHost(req);
    next();
  });
  if (corsOrigins !== undefined) {
    const origin = corsOrigins.includes('*') ? '*' : [...corsOrigins];
    // A preflight is handled like every OPTIONS: 204 with `Allow` if the path exists, otherwise 404.
    app.use(
      cors({
        origin,
        exposedHeaders: ['x-request-id', 'retry-after', 'idempotent-replayed'],
        maxAge: 600,
        preflightContinue: true,
      }),
    );
  }
  app.use(router);
  app.use((_req, res) => {
    setRoute(res, UNKNOWN_ROUTE);
    sendError(res, new YardmasterError('NOT_FOUND'));
  });
  // Express recognises an error handler by its four parameters.
  app.use((thrown: unknown, req: Request, res: Response, _next: NextFunction) => refuse(thrown, req, res));
  return app;
}

export interface EndpointOptions {
  serve: Serving['serve'];
  /** State that the probes report. */
  health: Health;
  /** Limits of this process, for the OpenAPI document. */
  limits: Limits;
}

/** Return all endpoints: the rows, and those without a key. */
export function endpointsOf({ serve, health, limits }: EndpointOptions): Endpoint[] {
  const rows = ROUTES.map((route): Endpoint => {
    return { method: route.method, path: route.path, serve: (req, res, params) => serve(route, params, req, res) };
  });
  return [...rows, ...openEndpoints(health, limits)];
}

const OPENAPI_PATH = '/api/v1/openapi.json';
const STREAMS_PATH = '/api/v1/streams.schema.json';

/** First page for people who open the URL of the service. */
const START = {
  name: 'yardmaster',
  version: VERSION,
  links: { openapi: OPENAPI_PATH, streams: STREAMS_PATH, livez: '/livez', readyz: '/readyz', metrics: '/metrics' },
};

/** Return the endpoints without a key: they contain nothing of a space or a job, and proxies have no key to send. */
function openEndpoints(health: Health, limits: Limits): Endpoint[] {
  const probes = PROBES.map((path): Endpoint => {
    return { method: 'GET', path, serve: (_req, res) => respondToCheck(res, path, health) };
  });
  return [
    { method: 'GET', path: '/', serve: (_req, res) => sendJson(res, 200, START) },
    { method: 'GET', path: OPENAPI_PATH, serve: createDocumentHandler(() => openApiDocument(ROUTES, limits)) },
    { method: 'GET', path: STREAMS_PATH, serve: createDocumentHandler(streamMessageSchema) },
    ...probes,
  ];
}
