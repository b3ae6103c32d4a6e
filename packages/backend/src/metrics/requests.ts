import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Registry } from 'prom-client';
import { openResponseOf } from '../http/answered.js';
import { Durations, type Series } from './durations.js';
import { OpenResponses } from './open-responses.js';

/** Seconds. A worker's call takes a few ms, and Redis 1.8 s of it at most. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5];

/** Whatever else somebody sends is one method more, and not as many as they can think of. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']);

/** Refused before it was known for which route. */
const NO_ROUTE = 'none';

/** A path that there is not. */
export const UNKNOWN_ROUTE = 'unknown';

/** As nginx logs a client that went away before its answer. */
const NOT_ANSWERED = 499;

const ROUTE = Symbol('pattern of the path');
const BEGAN = Symbol('when it came, by performance.now()');

/**
 * Of a connection, and on it, where a call finds it at once: what is not answered yet. Node says of no answer behind
 * another one that its client is gone.
 */
const UNANSWERED = Symbol('responses that are open');

type Watched = ServerResponse & { [ROUTE]?: string; [BEGAN]?: number };
type WatchedSocket = Duplex & { [UNANSWERED]?: OpenResponses<Watched> };

/** The responses of a connection of a watched server that are not answered yet. */
export const unansweredOn = (socket: Duplex) => (socket as WatchedSocket)[UNANSWERED] as OpenResponses<ServerResponse>;

/** Say whose request a connection has sent, by the id of the API key, and whether running jobs depend on it. */
export function ownerIs(socket: Duplex, keyId: string, isUrgent: boolean): void {
  const unanswered = unansweredOn(socket);
  unanswered.owner = keyId;
  unanswered.isUrgent = isUrgent;
}

/** Say which route a response is for: the pattern of the path and never the path, of which there is no end. */
export function routeIs(res: ServerResponse, route: string): void {
  (res as Watched)[ROUTE] = route;
}

/** Observes requests: how long each took until its answer was with the system, and how it was answered. */
export interface RequestMetrics {
  /** Observe every request of a server. @param onEnded called with each response, when it is answered or its client is gone */
  watch(server: Server, onEnded: (res: ServerResponse) => void): void;
  /**
   * Requests that are being served; for whoever serves them to count. One whose client does not read the response is not:
   * anybody can have many of those.
   */
  inFlight: number;
  /** What came on a socket was answered, in place of the app, since it is no request. */
  refused(socket: Duplex, status: number): void;
  /**
   * Observe an upgrade from now on.
   *
   * @returns a function to be called with its status; when the socket ends before, nobody was answered
   */
  upgrade(req: IncomingMessage, route: string): (status: number) => void;
}

/** Make the observation of requests. */
export function createRequestMetrics(registry: Registry): RequestMetrics {
  const durations = new Durations({
    name: 'yardmaster_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer, by route; status 499: the client was gone before.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registry,
  });
  function observe(method: string | undefined, route: string, status: number, began: number): void {
    // A method that a path has not is the business of nobody's dashboard.
    const known = status !== 405 && method !== undefined && METHODS.has(method) ? method : 'other';
    seriesOf(known, route, status).observe((performance.now() - began) / 1000);
  }

  // Looked for step by step: one key of all three would have to be written, hashed and compared each time.
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

  // Not at `finish`, which Node listens to, too: the array of the two listeners comes from where V8 has seen long-lived
  // ones made, those of the connections, so it makes it among the old; and there each holds its whole request until all
  // of the heap is collected.
  function onClose(this: Watched): void {
    settle(this, this.socket === null ? this.statusCode : NOT_ANSWERED); // Node takes the socket from an answer that is sent.
  }

  return {
    inFlight: 0,
    watch(server, listener) {
      onEnded = listener;
      server.on('connection', (socket: WatchedSocket) => {
        const unanswered = new OpenResponses<Watched>();
        socket[UNANSWERED] = unanswered;
        socket.once('close', () => {
          for (const res of unanswered.all()) settle(res, NOT_ANSWERED);
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
      // A request whose body is broken has begun; anything else has not.
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
      const onClose = () => done(NOT_ANSWERED);
      socket.once('close', onClose);
      return done;
    },
  };
}
