import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  type Backend,
  createOutageLog,
  internalError,
  REDIS_BUDGET_MS,
  rawAnswer,
  requestIdOf,
  type Streams,
  sendEmpty,
  sendError,
  within,
} from '@yardmaster/backend';
import { YardmasterError } from '@yardmaster/protocol';
import type { Config, Logger } from '@yardmaster/runtime';
import { WebSocketServer } from 'ws';
import { callerOf, type StreamCaller } from './caller.js';
import { clientAddressBy } from './client-address.js';
import { Feeds } from './feeds.js';
import { checkHandshake } from './handshake.js';
import { Holds } from './holds.js';
import { type Join, prepareJob, prepareSpace } from './join.js';
import { isStreamUrl, readStreamUrl, type Subject } from './path.js';
import { Session } from './session.js';
import { Sessions } from './sessions.js';
import { Slots } from './slots.js';

/** Variables that the streams read. */
export const STREAM_VARIABLES = [
  'ANONYMOUS_STREAMS',
  'STREAMS_PER_ADDRESS',
  'STREAMS_PER_KEY',
  'STREAMS_PER_JOB',
  'TRUSTED_PROXIES',
] as const;

export interface StreamsOptions {
  backend: Backend;
  config: Config<(typeof STREAM_VARIABLES)[number]>;
  log: Logger;
  /** Milliseconds between two pings of a socket. Default 25 000. */
  pingMs?: number;
}

/** Largest message of a client, in bytes; whatever it says is ignored. */
const MAX_CLIENT_MESSAGE_BYTES = 1024;

/** What may be asked of a path of the streams. */
const ALLOW = 'OPTIONS, GET';

/** A stream that may be opened. */
interface Admission {
  caller: StreamCaller;
  subject: Subject;
  join: Join;
}

/**
 * Make the streams of a process: requests on their paths are refused as HTTP, or become sessions.
 *
 * @see spec §4.17, §4.18, §6.1
 */
export function createStreams({ backend, config, log, pingMs }: StreamsOptions): Streams {
  const { store, keyRing, stopping } = backend;
  const feeds = new Feeds(store, backend.subscriptions, log);
  const sessions = new Sessions({ keyRing, log, pingMs });
  const rules = { keyRing, anonymousStreams: config.ANONYMOUS_STREAMS };
  const addressOf = clientAddressBy(config.TRUSTED_PROXIES ?? []);
  const perAddress = new Slots(config.STREAMS_PER_ADDRESS, 'this address without a token');
  const perKey = new Slots(config.STREAMS_PER_KEY, 'this API key');
  const perJob = new Slots(config.STREAMS_PER_JOB, 'this job');
  const logOutage = createOutageLog(log);
  const wss = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false, // It would take a socket from 7 to over 200 KB.
    maxPayload: MAX_CLIENT_MESSAGE_BYTES,
    autoPong: false, // See Session.
  });
  wss.on('wsClientError', (error, socket, req) => {
    refuse(req, socket, new YardmasterError('INVALID_REQUEST', `WebSocket handshake: ${error.message}`));
  });

  const onGone = (session: Session) => sessions.remove(session);

  /** The checks, in the contract's order: path, key, scope, job. What is taken on the way goes into `holds`. */
  async function admit(req: IncomingMessage, holds: Holds): Promise<Admission> {
    if (stopping.aborted) throw new YardmasterError('UNAVAILABLE', 'This process is stopping; connect again');
    const url = readStreamUrl(req.url as string);
    checkHandshake(req);
    const caller = await callerOf(url, rules);
    const { subject } = url;
    holds.add(caller.keyId === null ? perAddress.take(addressOf(req)) : perKey.take(caller.keyId));
    if (subject.kind === 'space') {
      return { caller, subject, join: await prepareSpace(subject.spaceId, { store, feeds, caller, holds }) };
    }
    holds.add(perJob.take(subject.jobId));
    return { caller, subject, join: await prepareJob(subject.jobId, { store, feeds, caller, holds }) };
  }

  /** Last checks of what may have changed while Redis was asked; nothing is awaited from here to the join. */
  function checkStillGood({ keyId }: StreamCaller): void {
    if (stopping.aborted) throw new YardmasterError('UNAVAILABLE', 'This process is stopping; connect again');
    if (keyId !== null && keyRing.hasHeardRevoked(keyId)) throw new YardmasterError('UNAUTHENTICATED');
  }

  async function open(req: IncomingMessage, socket: Duplex, head: Buffer, holds: Holds): Promise<void> {
    const { caller, subject, join } = await within(REDIS_BUDGET_MS, admit(req, holds));
    checkStillGood(caller);
    if (socket.destroyed) return; // Its `close` has given back what it held.
    const audience = subject.kind === 'space' ? 'space' : caller.scope;
    wss.handleUpgrade(req, socket, head, (ws) => {
      const session = new Session(ws, socket, { audience, keyId: caller.keyId, onGone });
      sessions.add(session);
      join(session);
    });
  }

  function refuse(req: IncomingMessage, socket: Duplex, thrown: unknown): void {
    const requestId = requestIdOf(req);
    const error = thrown instanceof YardmasterError ? thrown : internalError(requestId);
    // Not the query: it holds the token.
    const line = { requestId, path: req.url?.split('?')[0], code: error.code };
    if (error.code === 'INTERNAL') log.error({ ...line, err: thrown }, 'stream failed');
    else if (error.status >= 500) logOutage(error, line);
    else log.debug(line, 'stream refused');
    const headers = error.code === 'UPGRADE_REQUIRED' ? UPGRADE_HEADERS : {};
    socket.once('finish', () => socket.destroy());
    socket.end(rawAnswer(error, { headers, requestId }));
  }

  return {
    isFor: (req) => isStreamUrl(req.url),
    upgrade(req, socket, head) {
      const holds = new Holds();
      releaseAtClose(socket, holds);
      open(req, socket, head, holds).catch((error) => {
        holds.releaseAll();
        refuse(req, socket, error);
      });
    },
    answer(req, res) {
      answerPlain(req, res);
    },
    close: (withinMs) => sessions.closeAll(Math.min(withinMs, 5_000)),
  };
}

/** Here, so that what a socket keeps for its whole life does not keep its request as well. */
function releaseAtClose(socket: Duplex, holds: Holds): void {
  socket.on('error', () => undefined); // `close` follows.
  socket.once('close', () => holds.releaseAll());
}

const UPGRADE_HEADERS = { upgrade: 'websocket', 'sec-websocket-version': '13' };

/** Answer a request that came without an upgrade, or with one that is not to WebSocket. */
function answerPlain(req: IncomingMessage, res: ServerResponse): void {
  res.setHeader('x-request-id', requestIdOf(req));
  try {
    readStreamUrl(req.url as string);
    if (req.method === 'OPTIONS') sendEmpty(res, { allow: ALLOW });
    else if (req.method !== 'GET')
      sendError(res, new YardmasterError('METHOD_NOT_ALLOWED', `Allowed here: ${ALLOW}`), { allow: ALLOW });
    else sendError(res, new YardmasterError('UPGRADE_REQUIRED'), { ...UPGRADE_HEADERS, connection: 'upgrade' });
  } catch (error) {
    sendError(res, error as YardmasterError);
  }
}
