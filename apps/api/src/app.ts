import {
  answerCheck,
  checkHost,
  createOutageLog,
  type Health,
  internalError,
  PROBES,
  requestIdOfResponse,
  routeIs,
  sendEmpty,
  sendError,
  sendText,
  UNKNOWN_ROUTE,
} from '@yardmaster/backend';
import { YardmasterError } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import cors from 'cors';
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import { directRoutes, type Params } from './direct.js';
import { handle, type Surroundings } from './handle.js';
import { Incoming } from './logs/incoming.js';
import { Outgoing } from './outgoing.js';
import type { Route } from './route.js';
import { ROUTES } from './routes.js';

export interface AppOptions extends Omit<Surroundings, 'incoming'> {
  log: Logger;
  /** Origins whose pages may call, or `['*']`; none: no CORS headers at all. */
  corsOrigins?: readonly string[] | undefined;
  /** What the probes tell, and whether the process is about to end. */
  health: Health;
}

/** HTTP errors that Express and its router throw by themselves, e.g. for a path with a broken `%`. */
function fromExpress(error: unknown): YardmasterError | null {
  const { status } = error as { status?: number };
  return status === 400 ? new YardmasterError('INVALID_REQUEST', 'path must be valid percent-encoding') : null;
}

/** Build the Express app: one row of ROUTES after the other, then 405 for known paths and 404 for the rest. */
export function createApp({ log, corsOrigins, health, ...surroundings }: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');

  app.use((req, res, next) => {
    if (log.isLevelEnabled('debug')) logWhenDone(log, req, res);
    checkHost(req);
    next();
  });
  if (corsOrigins !== undefined) {
    const origin = corsOrigins.includes('*') ? '*' : [...corsOrigins];
    // A preflight goes on to its path like every OPTIONS: `Allow` where there is one, else 404.
    app.use(cors({ origin, exposedHeaders: ['x-request-id', 'retry-after'], maxAge: 600, preflightContinue: true }));
  }

  const outgoing = new Outgoing();
  const { observer } = surroundings.store;
  const around = { ...surroundings, incoming: new Incoming(observer.refusedLogs) };
  const serve = async (route: Route, params: Params, req: Request, res: Response) => {
    routeIs(res, route.path);
    const text = JSON.stringify(await handle(route, params, req, around));
    const bytes = Buffer.byteLength(text);
    outgoing.count(res, bytes);
    sendText(res, route.created ? 201 : 200, { text, bytes });
  };

  const find = directRoutes(ROUTES);
  app.use((req, res, next) => {
    const found = find(req.method, req.url);
    return found === null ? next() : serve(found.route, found.params, req, res);
  });
  for (const path of PROBES) {
    app.get(path, (_req, res) => {
      routeIs(res, path);
      return answerCheck(res, path, health);
    });
  }
  for (const route of ROUTES) {
    // Express types a parameter as maybe a list, which only its wildcards are.
    const serveIt = (req: Request, res: Response) => serve(route, req.params as Params, req, res);
    if (route.method === 'GET') app.get(route.path, serveIt);
    else if (route.method === 'POST') app.post(route.path, serveIt);
    else app.delete(route.path, serveIt);
  }
  const probes = PROBES.map((path) => ({ method: 'GET', path }) as const);
  for (const [path, allow] of allowedMethods([...probes, ...ROUTES])) {
    app.all(path, (req, res) => {
      routeIs(res, path);
      refuseMethod(req, res, allow);
    });
  }
  app.use((_req, res) => {
    routeIs(res, UNKNOWN_ROUTE);
    sendError(res, new YardmasterError('NOT_FOUND'));
  });
  app.use(answerError(log));
  return app;
}

/** The methods of each path, as the `Allow` header says them. GET serves HEAD as well. */
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

function answerError(log: Logger): ErrorRequestHandler {
  const logOutage = createOutageLog(log);
  return (thrown, req, res, _next) => {
    const requestId = requestIdOfResponse(res);
    const known = thrown instanceof YardmasterError ? thrown : fromExpress(thrown);
    const error = known ?? internalError(requestId);
    const line = { requestId, method: req.method, path: req.path, code: error.code };
    if (known === null) log.error({ ...line, err: thrown }, 'request failed');
    else if (error.status >= 500) logOutage(error, line);
    else log.debug(line, 'request refused');
    // A half-written answer can only be cut off.
    if (res.headersSent) res.destroy();
    else sendError(res, error);
  };
}

function logWhenDone(log: Logger, req: Request, res: Response): void {
  const began = performance.now();
  const requestId = requestIdOfResponse(res);
  const { method, path } = req;
  res.on('close', () => {
    log.debug({ requestId, method, path, status: res.statusCode, ms: performance.now() - began }, 'request done');
  });
}
