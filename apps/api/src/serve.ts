import {
  createOutageLog,
  internalError,
  type RequestMetrics,
  redisBudgetMs,
  requestIdOfResponse,
  routeIs,
  sendError,
  sendText,
} from '@yardmaster/backend';
import { YardmasterError } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import type { Request, Response } from 'express';
import { handle, type Params, type Surroundings } from './handle.js';
import { Incoming } from './logs/incoming.js';
import { Outgoing } from './outgoing.js';
import type { Route } from './route.js';

export interface ServingOptions extends Omit<Surroundings, 'incoming' | 'budgetMs'> {
  log: Logger;
  /** Counts the requests that are being served. */
  requests: Pick<RequestMetrics, 'inFlight'>;
  /** Most requests that are served at once; more are refused. */
  maxInFlight: number;
  /** Called for each request that is refused as OVERLOADED. */
  onOverloaded: () => void;
}

/** How requests are answered, whoever has found out which row they are for. */
export interface Serving {
  /** @throws every refusal there is */
  serve(route: Route, params: Params, req: Request, res: Response): Promise<void>;
  /** Answer with what was thrown, and log it. */
  refuse(thrown: unknown, req: Request, res: Response): void;
}

/** Make the serving of requests. */
export function createServing({ log, requests, maxInFlight, onOverloaded, ...surroundings }: ServingOptions): Serving {
  const outgoing = new Outgoing();
  const { store } = surroundings;
  const budgetMs = redisBudgetMs(store);
  const incoming = new Incoming(budgetMs, store.observer.refusedLogs);
  const around = { ...surroundings, budgetMs, incoming };
  const logOutage = createOutageLog(log);
  return {
    async serve(route, params, req, res) {
      routeIs(res, route.path);
      if (requests.inFlight >= maxInFlight) throw new YardmasterError('OVERLOADED');
      requests.inFlight++;
      try {
        const text = JSON.stringify(await handle(route, params, req, around));
        const bytes = Buffer.byteLength(text);
        outgoing.count(res, bytes, route.method === 'GET');
        sendText(res, route.created ? 201 : 200, { text, bytes });
      } finally {
        requests.inFlight--;
      }
    },
    refuse(thrown, req, res) {
      const requestId = requestIdOfResponse(res);
      const known = thrown instanceof YardmasterError ? thrown : fromExpress(thrown);
      const error = known ?? internalError(requestId);
      const line = { requestId, method: req.method, path: req.path, code: error.code };
      // A client that has left gets no refusal; it is counted with status 499.
      if (error.code === 'OVERLOADED' && !res.closed) onOverloaded();
      if (known === null) log.error({ ...line, err: thrown }, 'request failed');
      else if (error.status >= 500) logOutage(error, line);
      else log.debug(line, 'request refused');
      // A half-written answer can only be cut off.
      if (res.headersSent) res.destroy();
      else sendError(res, error);
    },
  };
}

/** HTTP errors that Express and its router throw by themselves, e.g. for a path with a broken `%`. */
function fromExpress(error: unknown): YardmasterError | null {
  const { status } = error as { status?: number };
  return status === 400 ? new YardmasterError('INVALID_REQUEST', 'path must be valid percent-encoding') : null;
}
