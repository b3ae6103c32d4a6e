import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { YardmasterError } from '@yardmaster/protocol';
import type { Config, Logger } from '@yardmaster/runtime';
import {
  onceResponded,
  redisBudgetMs,
  requestIdOf,
  type ServerContext,
  type Streams,
  within,
} from '@yardmaster/server';
import { WebSocketServer } from 'ws';
import { createAdmission, type STREAM_VARIABLES } from './admission/admission.js';
import { isStreamUrl, routeOfStream } from './admission/caller.js';
import { ReleaseStack } from './admission/capacity.js';
import { createRefuseUpgrade, respondToPlainRequest } from './admission/reject.js';
import { Channels } from './channels/channels.js';
import { createStreamMetrics } from './metrics.js';
import { Session } from './sockets/session.js';
import { Sessions } from './sockets/sessions.js';

export interface StreamsOptions {
  context: ServerContext;
  config: Config<(typeof STREAM_VARIABLES)[number]>;
  log: Logger;
  /** Milliseconds between two pings of a socket. Default 25 000. */
  pingMs?: number;
  /** Source of numbers from 0 up to 1, see Session. Default `Math.random`. */
  random?: () => number;
}

/** Size limit of a client's message, in bytes. The content of every message is ignored. */
const MAX_CLIENT_MESSAGE_BYTES = 1024;

/** Longest time for clients to respond to the close when the process ends. */
const CLOSE_WITHIN_MS = 5_000;

/**
 * Create the streams of a process. A request on one of their paths becomes a session, or is refused as HTTP.
 *
 * @see spec §4.17, §4.18, §6.1
 */
export function createStreams({ context, config, log, pingMs, random }: StreamsOptions): Streams {
  const { stopping, metrics } = context;
  const budgetMs = redisBudgetMs(context.store);
  const channels = new Channels(context, log);
  const sessions = new Sessions({ authenticator: context.authenticator, log, pingMs });
  const streamMetrics = createStreamMetrics(metrics, () => sessions.open);
  const admission = createAdmission({ context, channels, config });
  const refuseUpgrade = createRefuseUpgrade(log, stopping);
  /** Functions that report the status of the response to the metrics, by upgrade. */
  const upgrades = new WeakMap<IncomingMessage, (status: number) => void>();
  const onClosed = (session: Session) => sessions.remove(session);
  const wss = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false, // Compression would raise the memory of a socket from 7 to over 200 KB.
    maxPayload: MAX_CLIENT_MESSAGE_BYTES,
    // ws responds to the pings of clients. It disconnects a client that leaves 60 of these pongs unread.
  });
  wss.on('headers', (headers, req) => headers.push(`x-request-id: ${requestIdOf(req)}`));
  wss.on('wsClientError', (error, socket, req) => {
    refuse(req, socket, new YardmasterError('INVALID_REQUEST', `WebSocket handshake: ${error.message}`));
  });

  function refuse(req: IncomingMessage, socket: Duplex, thrown: unknown): void {
    const status = refuseUpgrade(req, socket, thrown);
    upgrades.get(req)?.(status);
  }

  async function open(req: IncomingMessage, socket: Duplex, head: Buffer, releases: ReleaseStack): Promise<void> {
    const admitted = await within(budgetMs, admission.admit(req, releases));
    // Nothing must be awaited from here to `attach`, because an event that came in between would be lost.
    admission.checkAgain(admitted);
    if (socket.destroyed) return; // Its `close` event has released everything already.
    const { caller, subject, attach } = admitted;
    const visibility = subject.kind === 'space' ? 'space' : caller.scope;
    wss.handleUpgrade(req, socket, head, (ws) => {
      const session = new Session(ws, socket, {
        visibility,
        keyId: caller.keyId,
        rotation: caller.rotation,
        filter: caller.filter,
        onClosed,
        metrics: streamMetrics,
        random,
      });
      upgrades.get(req)?.(101);
      sessions.add(session);
      attach(session);
      log.debug({ requestId: requestIdOf(req), ...subject, keyId: caller.keyId, visibility }, 'stream opened');
    });
  }

  return {
    isFor: (req) => isStreamUrl(req.url),
    upgrade(req, socket, head) {
      // The response and the log use one id, whatever the response is.
      req.headers['x-request-id'] = requestIdOf(req);
      upgrades.set(req, metrics.requests.upgrade(req, routeOfStream(req.url as string)));
      const releases = new ReleaseStack();
      releaseAtClose(socket, releases);
      onceResponded(socket, () => {
        open(req, socket, head, releases).catch((error) => {
          releases.releaseAll();
          refuse(req, socket, error);
        });
      });
    },
    respond(req, res) {
      respondToPlainRequest(req, res);
    },
    name: 'streams',
    start: async () => undefined,
    stop: (withinMs) => sessions.closeAll(Math.min(withinMs, CLOSE_WITHIN_MS)),
  };
}

/**
 * Release everything when a socket closes.
 *
 * It is a function of its own, so that these listeners, which live as long as the socket, do not keep its request.
 */
function releaseAtClose(socket: Duplex, releases: ReleaseStack): void {
  socket.on('error', () => undefined); // `close` follows.
  socket.once('close', () => releases.releaseAll());
}
