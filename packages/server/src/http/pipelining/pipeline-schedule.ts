import type { Server } from 'node:http';
import { performance } from 'node:perf_hooks';
import { type HttpSocket, openResponsesOf } from '../connection.js';
import { AT_ONCE, Pipeline } from './pipeline.js';

/** How long connections that pipeline are served in one turn of the event loop, before all others, milliseconds. */
const SHARE_MS = 2;

/**
 * Requests of all these connections that are served at once. With more, each takes so long that V8 frees its memory
 * late.
 */
const OPEN_AT_MOST = 32;

/** Lets connections continue in the order in which they ask, for a short time in each turn of the event loop. */
export class PipelineSchedule {
  /** Requests of these connections that are being served and have no response yet. */
  open = 0;
  #waiting: (() => void)[] = [];
  #isScheduled = false;
  #turn = 1;
  #isCounted = false;

  /** Return the number of the current turn of the event loop. */
  currentTurn(): number {
    if (!this.#isCounted) {
      this.#isCounted = true;
      setImmediate(() => {
        this.#isCounted = false;
        this.#turn++;
      });
    }
    return this.#turn;
  }

  /** Let a connection continue once it is its place in the order. */
  ask(goOn: () => void): void {
    this.#waiting.push(goOn);
    this.schedule();
  }

  get hasRoom(): boolean {
    return this.open < OPEN_AT_MOST;
  }

  /** Schedule a run. Called when a connection asks, and when there is room again. */
  schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0 || !this.hasRoom) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#run();
      this.schedule();
    });
  }

  #run(): void {
    const waiting = this.#waiting;
    this.#waiting = []; // A connection that asks in the meantime comes after those.
    const end = performance.now() + SHARE_MS;
    let served = 0;
    for (; served < waiting.length && this.hasRoom && performance.now() < end; served++) waiting[served]?.();
    this.#waiting = waiting.slice(served).concat(this.#waiting);
  }
}

const PIPELINE = Symbol('requests that wait on a connection');

type PipelinedSocket = HttpSocket & { [PIPELINE]?: Pipeline };

/**
 * Bound how many requests of one connection are served at once. A client may send requests without waiting for
 * responses (pipelining), and Node would begin to serve all that it reads.
 *
 * Once a connection has sent too many, only some of its bytes are parsed at a time. The others wait as they came, and
 * the socket is paused. Such connections share a short time in each turn of the event loop, so that other clients do
 * not wait.
 */
export function boundPipelines(server: Server): void {
  const schedule = new PipelineSchedule();
  server.on('connection', (socket: PipelinedSocket) => {
    const { parser } = socket;
    if (parser === null) return;
    const begin = parser.onIncoming;
    const open = openResponsesOf(socket);
    let [turn, begun] = [0, 0];
    parser.onIncoming = (req, keepAlive) => {
      if (socket[PIPELINE] === undefined) {
        // A refusal is sent before the next request is parsed: without this count, refusals would not be bounded.
        begun = turn === schedule.currentTurn() ? begun + 1 : 1;
        turn = schedule.currentTurn();
        if (begun <= AT_ONCE && open.size < AT_ONCE) return begin(req, keepAlive);
        socket[PIPELINE] = new Pipeline(socket, { server, begin, schedule });
      }
      return socket[PIPELINE].add(req, keepAlive);
    };
  });
  // Bytes behind an invalid request belong to no request.
  server.prependListener('clientError', (_error, socket) => (socket as PipelinedSocket)[PIPELINE]?.dropBytes());
}
