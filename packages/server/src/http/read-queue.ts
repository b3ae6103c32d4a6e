import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { YardmasterError } from '@yardmaster/protocol';
import { FairQueue } from '@yardmaster/store';
import type { RequestMetrics } from '../metrics/http.js';
import { type HttpSocket, openResponsesOf } from './connection.js';
import { rawResponse, refuseWhenIdle } from './refusal.js';

/** How often the load is measured, milliseconds. */
const TICK_MS = 50;

/** Utilization of the event loop above which the process is busy, from 0 to 1. */
const BUSY = 0.9;

/** Requests that a busy process serves at once, not counting those that it started before. */
const AT_ONCE = 128;

/** Connections to read per tick while the process is busy, so that none waits forever behind slow requests. */
const PER_TICK_BUSY = 16;

/** Connections to read per tick once the process is no longer busy. */
const PER_TICK = 512;

/** Every fourth read goes to a non-urgent connection, if one is waiting. */
const NOT_URGENT_EVERY = 4;

/**
 * Queue the connections of a server for reading while the process is busy.
 *
 * A request that isn't read costs nothing, but one that is read and refused costs a third of one that is served. At three
 * times its capacity, a process would mostly refuse requests. So after a response, a busy process doesn't read from the
 * connection again until its turn in the queue. Connections of running jobs go first, except for one read in four, and
 * tenants share the reads fairly. The first request of a new connection and the requests of probes are read immediately.
 *
 * @returns a function to call with each response that has ended
 */
export function createReadQueue(requests: Pick<RequestMetrics, 'inFlight'>): (res: ServerResponse) => void {
  const urgent = new FairQueue<ReadPause>();
  const others = new FairQueue<ReadPause>();
  let taken = 0;
  let isBusy = false;
  let isTicking = true;
  let hasResponded = false; // Since the last tick.
  let ended = 0; // Responses that have ended in this iteration of the event loop.
  let before = performance.eventLoopUtilization();

  const readMore = (connections: number) => {
    for (let left = connections; left > 0; ) {
      const [first, second] = ++taken % NOT_URGENT_EVERY === 0 ? [others, urgent] : [urgent, others];
      const next = first.shift() ?? second.shift();
      if (next === undefined) return;
      if (next.item.resume()) left--;
    }
  };

  const timer = setTimeout(() => {
    const now = performance.eventLoopUtilization();
    isBusy = performance.eventLoopUtilization(now, before).utilization > BUSY;
    before = now;
    readMore(isBusy ? PER_TICK_BUSY : PER_TICK);
    // An idle process stops ticking until its next response.
    isTicking = isBusy || hasResponded || urgent.size + others.size > 0;
    hasResponded = false;
    if (isTicking) timer.refresh();
  }, TICK_MS).unref();

  /** Read in a later iteration of the event loop: requests that end immediately must not starve everything else. */
  function readMoreLater(): void {
    if (ended++ > 0) return;
    setImmediate(() => {
      readMore(Math.min(ended, AT_ONCE - requests.inFlight));
      ended = 0;
    });
  }

  return ({ req }) => {
    hasResponded = true;
    if (!isTicking) {
      isTicking = true;
      before = performance.eventLoopUtilization();
      timer.refresh();
    }
    if (!isBusy || (requests.inFlight < AT_ONCE && urgent.size + others.size === 0)) return;
    const open = openResponsesOf(req.socket);
    // Let a request that has begun arrive completely: an unread body would keep its request in the process.
    if (req.complete && open.size === 0 && !req.socket.destroyed) {
      const pause = readPauseOf(req.socket);
      pause.pause();
      (open.isUrgent ? urgent : others).push(open.tenant, pause);
    }
    readMoreLater();
  };
}

const READ_PAUSE = Symbol('pause of the reading of a connection');

/** Return the read pause of a connection, creating it if needed. */
export function readPauseOf(socket: Socket & { [READ_PAUSE]?: ReadPause }): ReadPause {
  socket[READ_PAUSE] ??= new ReadPause(socket);
  return socket[READ_PAUSE];
}

/** Pauses reading from a connection, independently of Node, which pauses it while its responses are not read. */
class ReadPause {
  readonly #socket: HttpSocket;
  #isPaused = false;
  #isPausedByNode: boolean;

  constructor(socket: Socket) {
    this.#socket = socket as HttpSocket;
    this.#isPausedByNode = this.#socket._paused;
    // Node resumes reading once responses are read, so it must see that the socket is still paused.
    Object.defineProperty(socket, '_paused', {
      get: () => this.#isPausedByNode || this.#isPaused,
      set: (isPaused: boolean) => {
        this.#isPausedByNode = isPaused;
      },
    });
  }

  /** Stop reading. Requests that were already read are still served. */
  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  /**
   * Resume reading, unless Node has paused the connection.
   *
   * @returns whether the connection is still open
   */
  resume(): boolean {
    if (this.#socket.destroyed) return false;
    this.#isPaused = false;
    if (!this.#socket._paused) {
      this.#socket.parser?.resume();
      this.#socket.resume();
    }
    return true;
  }
}

/** How long a connection stays open after its refusal so that the client can read it, milliseconds. */
const READ_MS = 1_000;

/** Maximum open requests of a connection, and maximum requests that may start in one iteration of the event loop. */
const OPEN_AT_ONCE = 64;

/**
 * Cut off connections that send too many requests without waiting for the responses (pipelining). Node would start to serve
 * everything it reads, so that one client could use up the memory and the event loop. The first excess request is refused
 * once the earlier ones have their responses; it and all later ones are not served.
 */
export function limitPipelines(server: Server, requests: RequestMetrics): void {
  server.on('connection', (socket: HttpSocket) => {
    const { parser } = socket;
    if (parser === null) return;
    const begin = parser.onIncoming;
    const open = openResponsesOf(socket);
    let begun = 0;
    let isCutOff = false;
    parser.onIncoming = (req, keepAlive) => {
      if (isCutOff) return 0;
      // Refusals are sent immediately, so the number of open responses doesn't limit them.
      if (begun++ === 0) setImmediate(() => (begun = 0));
      if (begun <= OPEN_AT_ONCE && open.size < OPEN_AT_ONCE) return begin(req, keepAlive);
      isCutOff = true;
      readPauseOf(socket).pause();
      socket.once('finish', () => setTimeout(() => socket.destroy(), READ_MS).unref());
      const refusal = new YardmasterError('OVERLOADED', `a connection may have at most ${OPEN_AT_ONCE} open requests`);
      requests.refused(socket, refusal.status);
      refuseWhenIdle(socket, rawResponse(refusal));
      return 0;
    };
  });
}
