import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Registry } from 'prom-client';
import { openResponseOf } from '../http/open-response.js';
import { FastHistogram, type Series } from './fast-histogram.js';
import { OpenResponses } from './open-responses.js';

/** Seconds. A worker's call takes a few ms, and Redis may take at most 1.8 s of it. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5];

/** Methods with a label value of their own. Others count as one, because clients can send any number of them. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']);

/** Route of a request that was refused before its route was known. */
const NO_ROUTE = 'none';

/** Route of a path that does not exist. */
export const UNKNOWN_ROUTE = 'unknown';

/** Status of a request whose client went away before its response, as nginx logs it. */
const NO_RESPONSE = 499;

const ROUTE = Symbol('pattern of the path');
const BEGAN = Symbol('when it came, by performance.now()');

/**
 * Key under which a connection keeps its unfinished responses, where a call finds them at once. When a response waits
 * behind another one, Node does not report that its client is gone.
 */
const UNANSWERED = Symbol('responses that are open');

type Watched = ServerResponse & { [ROUTE]?: string; [BEGAN]?: number };
type WatchedSocket = Duplex & { [UNANSWERED]?: OpenResponses<Watched> };

/** Return the unfinished responses of a connection of a watched server. */
export const openResponsesOn = (socket: Duplex) =>
  (socket as WatchedSocket)[UNANSWERED] as OpenResponses<ServerResponse>;

/** Record whose request a connection has sent, by the id of the API key, and whether running jobs depend on it. */
export function ownerIs(socket: Duplex, keyId: string, isUrgent: boolean): void {
  const unanswered = openResponsesOn(socket);
  unanswered.owner = keyId;
  unanswered.isUrgent = isUrgent;
}

/** Record which route a response is for: the pattern of the path, never the path, because there is no end of paths. */
export function routeIs(res: ServerResponse, route: string): void {
  (res as Watched)[ROUTE] = route;
}

/** Observes requests: how long each took until the system had its response, and with which status. */
export interface RequestMetrics {
  /** Observe every request of a server. @param onEnded called with each response, when it is sent or its client is gone */
  watch(server: Server, onEnded: (res: ServerResponse) => void): void;
  /**
   * Requests that are being served; the code that serves them counts them. A request whose client does not read the
   * response is not counted, because any client can have many of those.
   */
  inFlight: number;
  /** Record that input on a socket got a response of the server instead of the app, because it is no request. */
  refused(socket: Duplex, status: number): void;
  /**
   * Observe an upgrade from now on.
   *
   * @returns a function to be called with its status; when the socket ends before, the client got no response
   */
  upgrade(req: IncomingMessage, route: string): (status: number) => void;
}

/** Create the observation of requests. */
export function createRequestMetrics(registry: Registry): RequestMetrics {
  const durations = new FastHistogram({
    name: 'yardmaster_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer, by route; status 499: the client was gone before.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registry,
  });
  function observe(method: string | undefined, route: string, status: number, began: number): void {
    // Count unsupported methods as `other` to bound label cardinality.
    const known = status !== 405 && method !== undefined && METHODS.has(method) ? method : 'other';
    seriesOf(known, route, status).observe((performance.now() - began) / 1000);
  }

  // Looked up step by step, because one key of all three would have to be written, hashed and compared each time.
  const series = new Map<string, Map<string, Map<number, Series>>>();
  function seriesOf(method: string, route: string, status: number): Series {
    const found = series.get(route)?.get(method)?.get(status);
    if (found) return found;
    const made = durations.series([method, route, String(status)]);
    const ofRoute = series.get(route) ?? new Map<string, Map<number, Series>>();
    const ofMethod = ofRoute.get(method) ?? new Map<number, Series>();
    series.set(route, ofRoute.set(method, ofMethod.set(status, made)));
    return made;
  }

  let onEnded: (res: ServerResponse) => void = () => undefined;
  function settle(res: Watched, status: number): void {
    if ((res.req.socket as WatchedSocket)[UNANSWERED]?.delete(res) !== true) return;
    onEnded(res);
    observe(res.req.method, res[ROUTE] ?? NO_ROUTE, status, res[BEGAN] as number);
  }

  // Not at `finish`, because Node listens to it, too. The array of the two listeners is made where V8 has seen
  // long-lived arrays made, those of the connections, so V8 makes it in the old space. There, each array keeps its
  // whole request until all of the heap is collected.
  function onClose(this: Watched): void {
    // Node takes the socket from a response that is sent.
    settle(this, this.socket === null ? this.statusCode : NO_RESPONSE);
  }

  return {
    inFlight: 0,
    watch(server, listener) {
      onEnded = listener;
      server.on('connection', (socket: WatchedSocket) => {
        const unanswered = new OpenResponses<Watched>();
        socket[UNANSWERED] = unanswered;
        socket.once('close', () => {
          for (const res of unanswered.all()) settle(res, NO_RESPONSE);
        });
      });
      server.prependListener('request', (_req: IncomingMessage, res: Watched) => {
        res[BEGAN] = performance.now();
        (res.req.socket as WatchedSocket)[UNANSWERED]?.add(res);
        res.on('close', onClose);
      });
    },
    refused(socket, status) {
      const open = openResponseOf(socket) as Watched | null;
      // A request whose body is broken has begun; any other input has not.
      if (open && !open.req.complete) settle(open, status);
      else observe(undefined, NO_ROUTE, status, performance.now());
    },
    upgrade({ method, socket }, route) {
      const began = performance.now();
      let isSettled = false;
      const done = (status: number) => {
        if (!isSettled) observe(method, route, status, began);
        isSettled = true;
        socket.off('close', onClose);
      };
      const onClose = () => done(NO_RESPONSE);
      socket.once('close', onClose);
      return done;
    },
  };
}
