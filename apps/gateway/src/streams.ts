import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex, Writable } from 'node:stream';
import { YardmasterError } from '@yardmaster/protocol';
import type { Config, Logger } from '@yardmaster/runtime';
import {
  createCors,
  type Denied,
  onceResponded,
  redisBudgetMs,
  rejectAfter,
  requestIdOf,
  requestIdOfResponse,
  type ServerContext,
  type Streams,
  sendEmpty,
  sendError,
  setRoute,
} from '@yardmaster/server';
import { WebSocketServer } from 'ws';
import { type Admitted, createAdmission, type STREAM_VARIABLES } from './admission/admission.js';
import { ReleaseStack } from './admission/capacity.js';
import { createRefusalReport, refuseUpgrade, respondToPlainRequest } from './admission/reject.js';
import { acceptsEventStream, isStreamUrl, routeOfStream } from './admission/stream-request.js';
import { Channels } from './channels/channels.js';
import { formOf } from './messages.js';
import { createStreamMetrics } from './metrics.js';
import { EventStreamTransport } from './sockets/event-stream.js';
import { Session } from './sockets/session.js';
import { Sessions } from './sockets/sessions.js';
import type { Transport } from './sockets/transport.js';
import { WebSocketTransport } from './sockets/web-socket.js';

export interface StreamsOptions {
  context: ServerContext;
  config: Config<(typeof STREAM_VARIABLES)[number]>;
  log: Logger;
  /** Time between two pings of a socket, milliseconds. Default 25,000. */
  pingMs?: number;
  /** Source of random numbers from 0 to 1 (exclusive); see Session. Default `Math.random`. */
  random?: () => number;
}

/** Maximum size of a client's message, in bytes. The content of messages is ignored. */
const MAX_CLIENT_MESSAGE_BYTES = 1024;

/** Headers of an event stream. The last one keeps nginx from buffering the response until it ends. */
const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-accel-buffering': 'no',
};

/** How long clients may take to respond to the close at shutdown, milliseconds. */
const CLOSE_WITHIN_MS = 5_000;

/**
 * Create the streams of a process. A request for a stream becomes a session, or is refused with an HTTP error.
 *
 * @see docs/streams.md
 */
export function createStreams({ context, config, log, pingMs, random }: StreamsOptions): Streams {
  const { audit, stopping, metrics } = context;
  const budgetMs = redisBudgetMs(context.store);
  const channels = new Channels(context, log);
  const sessions = new Sessions({ authenticator: context.authenticator, log, pingMs });
  const streamMetrics = createStreamMetrics(metrics, () => sessions.open);
  const admission = createAdmission({ context, channels, config });
  const reportRefusal = createRefusalReport(log, stopping);
  const setCors = createCors(config.CORS_ORIGINS);
  /** Functions that report the status of an upgrade's response to the metrics, by request. */
  const upgrades = new WeakMap<IncomingMessage, (status: number) => void>();
  const onClosed = (session: Session) => sessions.remove(session);
  const wss = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false, // Compression would raise the memory per socket from 7 KB to over 200 KB.
    maxPayload: MAX_CLIENT_MESSAGE_BYTES,
    // ws responds to pings of clients, and disconnects a client that leaves 60 of these pongs unread.
  });
  wss.on('headers', (headers, req) => headers.push(`x-request-id: ${requestIdOf(req)}`));
  wss.on('wsClientError', (error, socket, req) => {
    refuse(req, socket, new YardmasterError('INVALID_REQUEST', `WebSocket handshake: ${error.message}`));
  });

  /** Convert what was thrown into an error for the client, and report the refusal. */
  function refusalOf(req: IncomingMessage, requestId: string, thrown: unknown, access: Denied): YardmasterError {
    audit.denied(thrown, access, { req, requestId });
    return reportRefusal(req, requestId, thrown);
  }

  function refuse(req: IncomingMessage, socket: Duplex, thrown: unknown, access: Denied = {}): void {
    const requestId = requestIdOf(req);
    const error = refusalOf(req, requestId, thrown, access);
    refuseUpgrade(socket, error, requestId);
    upgrades.get(req)?.(error.status);
  }

  /** Start a stream on a connection. Don't await anything between the checks and this, or events would be lost. */
  function begin(transport: Transport, admitted: Admitted, requestId: string): void {
    const { caller, request, filter, attach } = admitted;
    const { subject } = request;
    const visibility = subject.kind === 'space' ? 'space' : caller.scope;
    const session = new Session(transport, {
      form: formOf(visibility, request.since !== null, request.isEventStream),
      keyId: caller.keyId,
      tenant: caller.tenant,
      rotation: caller.rotation,
      filter,
      expiresAt: performance.now() + caller.validMs,
      onClosed,
      metrics: streamMetrics,
      random,
    });
    sessions.add(session);
    attach?.(session);
    log.debug({ requestId, ...subject, keyId: caller.keyId, visibility }, 'stream opened');
  }

  async function open(req: IncomingMessage, socket: Duplex, head: Buffer, access: Denied, releases: ReleaseStack) {
    const admitted = await rejectAfter(budgetMs, admission.admit(req, access, releases));
    admission.checkAgain(admitted);
    if (socket.destroyed) return; // Its `close` event has already released everything.
    wss.handleUpgrade(req, socket, head, (ws) => {
      upgrades.get(req)?.(101);
      begin(new WebSocketTransport(ws, socket), admitted, requestIdOf(req));
    });
  }

  async function openEventStream(req: IncomingMessage, res: ServerResponse): Promise<void> {
    setRoute(res, routeOfStream(req.url as string));
    const releases = new ReleaseStack();
    releaseAtClose(res, releases);
    const requestId = requestIdOfResponse(res);
    const access: Denied = {};
    try {
      const admitted = await rejectAfter(budgetMs, admission.admit(req, access, releases));
      admission.checkAgain(admitted);
      if (res.destroyed) return;
      if (admitted.attach === null) return sendEmpty(res, {}); // An EventSource doesn't reconnect after a 204.
      res.writeHead(200, { ...EVENT_STREAM_HEADERS, 'x-request-id': requestId });
      metrics.requests.responded(res);
      if (req.method === 'HEAD') return void res.end();
      begin(new EventStreamTransport(res), admitted, requestId);
    } catch (thrown) {
      releases.releaseAll();
      if (!res.destroyed) sendError(res, refusalOf(req, requestId, thrown, access));
    }
  }

  return {
    isFor: (req) => isStreamUrl(req.url),
    upgrade(req, socket, head) {
      // Make the response and the log use the same ID.
      req.headers['x-request-id'] = requestIdOf(req);
      upgrades.set(req, metrics.requests.upgrade(req, routeOfStream(req.url as string)));
      const releases = new ReleaseStack();
      releaseAtClose(socket, releases);
      onceResponded(socket, () => {
        const access: Denied = {};
        open(req, socket, head, access, releases).catch((error) => {
          releases.releaseAll();
          refuse(req, socket, error, access);
        });
      });
    },
    respond(req, res) {
      setCors(req, res, () => {
        if (acceptsEventStream(req)) void openEventStream(req, res);
        else respondToPlainRequest(req, res);
      });
    },
    name: 'streams',
    start: () => sessions.start(),
    stop: (withinMs) => sessions.stop(Math.min(withinMs, CLOSE_WITHIN_MS)),
  };
}

/**
 * Release everything when a connection, or the response of an event stream, closes.
 *
 * A separate function, so that these listeners, which live as long as the connection, don't retain the request.
 */
function releaseAtClose(connection: Writable, releases: ReleaseStack): void {
  connection.on('error', () => undefined); // `close` follows.
  connection.once('close', () => releases.releaseAll());
}
