import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Backend, onceAnswered, redisBudgetMs, requestIdOf, type Streams, within } from '@yardmaster/backend';
import { YardmasterError } from '@yardmaster/protocol';
import type { Config, Logger } from '@yardmaster/runtime';
import { WebSocketServer } from 'ws';
import { createAdmission, type STREAM_VARIABLES } from './admission.js';
import { Feeds } from './feeds.js';
import { Holds } from './holds.js';
import { isStreamUrl, routeOfStream } from './path.js';
import { answerPlain, createRefusal } from './refusal.js';
import { Session } from './session.js';
import { Sessions } from './sessions.js';
import { createStreamMetrics } from './stream-metrics.js';

export interface StreamsOptions {
  backend: Backend;
  config: Config<(typeof STREAM_VARIABLES)[number]>;
  log: Logger;
  /** Milliseconds between two pings of a socket. Default 25 000. */
  pingMs?: number;
  /** A number from 0 up to 1, see Session. Default `Math.random`. */
  random?: () => number;
}

/** Largest message of a client, in bytes; whatever it says is ignored. */
const MAX_CLIENT_MESSAGE_BYTES = 1024;

/** Longest time for clients to answer the close when the process ends. */
const CLOSE_WITHIN_MS = 5_000;

/**
 * Make the streams of a process: requests on their paths are refused as HTTP, or become sessions.
 *
 * @see spec §4.17, §4.18, §6.1
 */
export function createStreams({ backend, config, log, pingMs, random }: StreamsOptions): Streams {
  const { stopping, metrics } = backend;
  const budgetMs = redisBudgetMs(backend.store);
  const feeds = new Feeds(backend.store, backend.subscriptions, log);
  const sessions = new Sessions({ keyRing: backend.keyRing, log, pingMs });
  const streamMetrics = createStreamMetrics(metrics, () => sessions.open);
  const admission = createAdmission({ backend, feeds, config });
  const answerRefusal = createRefusal(log, stopping);
  /** What observes each upgrade that is not answered yet. */
  const upgrades = new WeakMap<IncomingMessage, (status: number) => void>();
  const onGone = (session: Session) => sessions.remove(session);
  const wss = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false, // It would take a socket from 7 to over 200 KB.
    maxPayload: MAX_CLIENT_MESSAGE_BYTES,
    // Pings of clients are answered by ws, which gives up one that leaves 60 answers unread.
  });
  wss.on('headers', (headers, req) => headers.push(`x-request-id: ${requestIdOf(req)}`));
  wss.on('wsClientError', (error, socket, req) => {
    refuse(req, socket, new YardmasterError('INVALID_REQUEST', `WebSocket handshake: ${error.message}`));
  });

  function refuse(req: IncomingMessage, socket: Duplex, thrown: unknown): void {
    const status = answerRefusal(req, socket, thrown);
    upgrades.get(req)?.(status);
  }

  async function open(req: IncomingMessage, socket: Duplex, head: Buffer, holds: Holds): Promise<void> {
    const admitted = await within(budgetMs, admission.admit(req, holds));
    // From here to the join nothing may be awaited: what came in between would be lost.
    admission.checkStillGood(admitted);
    if (socket.destroyed) return; // Its `close` has given back what it held.
    const { caller, subject, join } = admitted;
    const audience = subject.kind === 'space' ? 'space' : caller.scope;
    wss.handleUpgrade(req, socket, head, (ws) => {
      const session = new Session(ws, socket, {
        audience,
        keyId: caller.keyId,
        onGone,
        metrics: streamMetrics,
        random,
      });
      upgrades.get(req)?.(101);
      sessions.add(session);
      join(session);
      log.debug({ requestId: requestIdOf(req), ...subject, keyId: caller.keyId, audience }, 'stream opened');
    });
  }

  return {
    isFor: (req) => isStreamUrl(req.url),
    upgrade(req, socket, head) {
      // One id for the answer and the log, whichever answer it will be.
      req.headers['x-request-id'] = requestIdOf(req);
      upgrades.set(req, metrics.requests.upgrade(req, routeOfStream(req.url as string)));
      const holds = new Holds();
      releaseAtClose(socket, holds);
      onceAnswered(socket, () => {
        open(req, socket, head, holds).catch((error) => {
          holds.releaseAll();
          refuse(req, socket, error);
        });
      });
    },
    answer(req, res) {
      answerPlain(req, res);
    },
    close: (withinMs) => sessions.closeAll(Math.min(withinMs, CLOSE_WITHIN_MS)),
  };
}

/** Here, so that what a socket keeps for its whole life does not keep its request as well. */
function releaseAtClose(socket: Duplex, holds: Holds): void {
  socket.on('error', () => undefined); // `close` follows.
  socket.once('close', () => holds.releaseAll());
}
