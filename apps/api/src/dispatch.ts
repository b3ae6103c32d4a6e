import type { Server } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import {
  createOutageLog,
  internalError,
  type RequestMetrics,
  redisBudgetMs,
  requestIdOfResponse,
  sendError,
  sendText,
} from '@yardmaster/server';
import type { Request, Response } from 'express';
import type { Dependencies, Params } from './call.js';
import { handle } from './handle.js';
import { InflateBudget, ResponseBudget } from './limits/budgets.js';
import { KeyLimiter } from './limits/key-limiter.js';
import { Place, Places } from './limits/places.js';
import type { Route } from './routes/route.js';

export interface DispatcherOptions
  extends Omit<Dependencies, 'inflateBudget' | 'batchBudget' | 'budgetMs' | 'keyLimiter' | 'places'> {
  /** Counts the requests that are being served. */
  requests: Pick<RequestMetrics, 'inFlight'>;
  /** Maximum number of requests served at once, and of requests whose body is still arriving; more are refused. */
  maxInFlight: number;
  /** Called for each request refused as OVERLOADED. */
  onOverloaded: () => void;
}

/** Responds to requests for rows. */
export interface HttpDispatcher {
  /** Serve a request for a row. @throws YardmasterError; any other error is a bug */
  serve(route: Route, params: Params, res: Response): Promise<void>;
  /** Respond with the thrown error and log it. */
  respondWithError(thrown: unknown, req: Request, res: Response): void;
}

/** Maximum bytes in memory: of log batches, and of lists of jobs that are larger than other bodies. */
const MAX_LOG_BYTES = 16 * 1_048_576;
const MAX_BATCHED_BYTES = 32 * 1_048_576;

/** Share of `maxInFlight` that is reserved for urgent calls: a running job must not time out because creates wait. */
const RESERVED = 0.1;

/** Create the dispatcher of a process, with its shared budgets. */
export function createDispatcher({
  log,
  requests,
  maxInFlight,
  onOverloaded,
  ...given
}: DispatcherOptions): HttpDispatcher {
  const responseBudget = new ResponseBudget();
  const { store } = given;
  const budgetMs = redisBudgetMs(store);
  const all = { max: maxInFlight, reserved: RESERVED };
  const places = {
    inFlight: new Places({ ...all, counter: requests }),
    // Bodies may arrive slowly, so other tenants could not wait for a large one to shrink to half.
    arriving: new Places({ ...all, isHalfAlways: true }),
  };
  const inflateBudget = new InflateBudget({
    ...{ maxBytes: MAX_LOG_BYTES, maxWaitMs: budgetMs, what: 'logs' },
    onRefused: store.observer.refusedLogs,
  });
  const batchBudget = new InflateBudget({ maxBytes: MAX_BATCHED_BYTES, maxWaitMs: budgetMs, what: 'large lists' });
  const deps = { ...given, log, keyLimiter: new KeyLimiter(), budgetMs, inflateBudget, batchBudget, places };
  const logOutage = createOutageLog(log);
  return {
    async serve(route, params, res) {
      const place = new Place();
      try {
        const { body, more } = await handle(route, params, { res, place }, deps);
        const { tenant } = place;
        if (route.units?.after !== undefined) deps.redisQueue.charge(tenant, route.units.after(body));
        const text = JSON.stringify(body);
        const bytes = Buffer.byteLength(text);
        responseBudget.acquire(res, { tenant, bytes, changesNothing: route.method === 'GET' });
        sendText(res, more.status ?? route.success.status ?? 200, { text, bytes, headers: more.headers });
      } finally {
        place.leave();
      }
    },
    respondWithError(thrown, req, res) {
      const requestId = requestIdOfResponse(res);
      const error = thrown instanceof YardmasterError ? thrown : internalError(requestId);
      const line = { requestId, method: req.method, path: req.path, code: error.code };
      // A client that has disconnected gets no refusal; it is counted with status 499.
      if (error.code === 'OVERLOADED' && !res.closed) onOverloaded();
      if (error !== thrown) log.error({ ...line, err: thrown }, 'request failed');
      else if (error.status >= 500) logOutage(error, line);
      else log.debug(line, 'request refused');
      // A partly written response can only be cut off.
      if (res.headersSent) res.destroy();
      else sendError(res, error);
    },
  };
}

/** Log each request of a server after its response, at level debug. Costs nothing at other levels. */
export function logRequests(server: Server, log: Logger): void {
  if (!log.isLevelEnabled('debug')) return;
  server.prependListener('request', (req, res) => {
    const began = performance.now();
    const requestId = requestIdOfResponse(res);
    const { method, path } = req as Request; // All requests of this server are Express requests.
    res.on('close', () => {
      const line = { requestId, method, path, status: res.statusCode };
      log.debug({ ...line, ms: performance.now() - began }, 'request done');
    });
  });
}
