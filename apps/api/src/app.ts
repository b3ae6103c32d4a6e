import { YardmasterError } from '@yardmaster/protocol';
import {
  checkHost,
  type Health,
  PROBES,
  respondToCheck,
  sendEmpty,
  sendError,
  setRoute,
  UNKNOWN_ROUTE,
} from '@yardmaster/server';
import cors from 'cors';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Params } from './handle.js';
import { createOpenApiHandler, OPENAPI_PATH } from './openapi/handler.js';
import type { Limits } from './openapi/limits.js';
import type { Route } from './route.js';
import { ROUTES } from './routes.js';
import type { Serving } from './serve.js';

export interface AppOptions extends Serving {
  /** Origins whose pages may call, or `['*']`; undefined: no CORS headers at all. */
  corsOrigins?: readonly string[] | undefined;
  /** What the probes report, and whether the process is about to end. */
  health: Health;
  /** Limits of this process, for the OpenAPI document. */
  limits: Limits;
}

/** Build the Express app: one row of ROUTES after the other, then 405 for known paths and 404 for the rest. */
export function createApp({ serve, refuse, corsOrigins, health, limits }: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');

  app.use((req, _res, next) => {
    checkHost(req);
    next();
  });
  if (corsOrigins !== undefined) {
    const origin = corsOrigins.includes('*') ? '*' : [...corsOrigins];
    // A preflight goes on to its path like every OPTIONS: `Allow` where the path exists, else 404.
    app.use(cors({ origin, exposedHeaders: ['x-request-id', 'retry-after'], maxAge: 600, preflightContinue: true }));
  }

  for (const path of PROBES) {
    app.get(path, (_req, res) => {
      setRoute(res, path);
      return respondToCheck(res, path, health);
    });
  }
  // Without a key: it contains nothing of a space or a job, and tools and proxies that read it have no key to send.
  const serveOpenApi = createOpenApiHandler(ROUTES, limits);
  app.get(OPENAPI_PATH, (req, res) => {
    setRoute(res, OPENAPI_PATH);
    serveOpenApi(req, res);
  });
  for (const route of ROUTES) {
    // Express types a parameter as a possible list, but only its wildcards are lists.
    const serveIt = (req: Request, res: Response) => serve(route, req.params as Params, req, res);
    if (route.method === 'GET') app.get(route.path, serveIt);
    else if (route.method === 'POST') app.post(route.path, serveIt);
    else app.delete(route.path, serveIt);
  }
  const open = [...PROBES, OPENAPI_PATH].map((path) => ({ method: 'GET', path }) as const);
  for (const [path, allow] of allowedMethods([...open, ...ROUTES])) {
    app.all(path, (req, res) => {
      setRoute(res, path);
      refuseMethod(req, res, allow);
    });
  }
  app.use((_req, res) => {
    setRoute(res, UNKNOWN_ROUTE);
    sendError(res, new YardmasterError('NOT_FOUND'));
  });
  // Express recognises an error handler by its four parameters.
  app.use((thrown: unknown, req: Request, res: Response, _next: NextFunction) => refuse(thrown, req, res));
  return app;
}

/** Return the methods of each path, as the `Allow` header lists them. GET serves HEAD as well. */
function allowedMethods(routes: readonly Pick<Route, 'path' | 'method'>[]): Map<string, string> {
  const allowed = new Map<string, string>();
  for (const { path, method } of routes) {
    const methods = method === 'GET' ? 'GET, HEAD' : method;
    const before = allowed.get(path);
    allowed.set(path, before === undefined ? `OPTIONS, ${methods}` : `${before}, ${methods}`);
  }
  return allowed;
}

function refuseMethod(req: Request, res: Response, allow: string): void {
  if (req.method === 'OPTIONS') sendEmpty(res, { allow });
  else sendError(res, new YardmasterError('METHOD_NOT_ALLOWED', `Allowed here: ${allow}`), { allow });
}
