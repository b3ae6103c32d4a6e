import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { OpenResponses } from '../metrics/open-responses.js';
import { unansweredOn } from '../metrics/requests.js';
import { readingOf } from './reading.js';
import type { ReadingTurns } from './reading-turns.js';

/** Requests of one connection that are served at once; while more wait, nothing is read from it. */
const AT_ONCE = 16;

/** Requests that may be unanswered when reading goes on. */
const RESUME_AT = 8;

/** Node sets it while it reads the head. */
type Upgradable = IncomingMessage & { upgrade?: boolean };

/** Node's parser of a connection. */
interface Parser {
  /** Called with the head of each request; what it returns says how to go on: 2 for an upgrade, else 0. */
  onIncoming: (req: IncomingMessage, keepAlive: boolean) => number;
}

/**
 * Bound how many requests of one connection are served at once. A client may send requests without waiting for answers
 * (pipelining): Node would begin to serve all that it reads, and 64 KB may be 500 polls.
 *
 * What was read beyond the bound waits as a request without a response, which takes half the memory, and the socket is
 * paused until it is served. The rest of a connection's requests is begun in a later turn of the event loop, so that other
 * connections have theirs.
 */
export function boundPipelines(server: Server, turns: ReadingTurns): void {
  server.on('connection', (socket: Socket & { parser: Parser }) => {
    const { parser } = socket;
    const begin = parser.onIncoming;
    const unanswered = unansweredOn(socket);
    parser.onIncoming = (req, keepAlive) => {
      if (unanswered.size < AT_ONCE) return begin(req, keepAlive);
      const pipeline = new Pipeline(socket, begin, turns);
      parser.onIncoming = (next, isKept) => pipeline.add(next, isKept);
      return pipeline.add(req, keepAlive);
    };
  });
}

/** The requests of one connection, once it has sent too many at once. */
class Pipeline {
  readonly #socket: Socket;
  readonly #begin: Parser['onIncoming'];
  readonly #turns: ReadingTurns;
  readonly #unanswered: OpenResponses<ServerResponse>;
  #waiting: { req: IncomingMessage; keepAlive: boolean }[] = [];
  #isPaused = false;
  #isScheduled = false;

  constructor(socket: Socket, begin: Parser['onIncoming'], turns: ReadingTurns) {
    this.#socket = socket;
    this.#begin = begin;
    this.#turns = turns;
    this.#unanswered = unansweredOn(socket);
    this.#unanswered.onFewer = () => this.#goOn();
  }

  add(req: IncomingMessage, keepAlive: boolean): number {
    const isFree = this.#waiting.length === 0 && this.#unanswered.size < AT_ONCE;
    if (isFree) return this.#begin(req, keepAlive);
    if ((req as Upgradable).upgrade) this.#socket.destroy(); // No client does that; it would overtake those that wait.
    this.#unanswered.waiting = this.#waiting.push({ req, keepAlive });
    if (!this.#isPaused) readingOf(this.#socket).pause(this);
    this.#isPaused = true;
    return 0;
  }

  /** Called when fewer are unanswered. */
  #goOn(): void {
    if (!this.#isPaused || this.#isScheduled || this.#unanswered.size > RESUME_AT) return;
    this.#isScheduled = true;
    this.#turns.ask(this.#socket, () => {
      this.#isScheduled = false;
      if (this.#socket.destroyed) this.#waiting = [];
      else this.#serveMore();
    });
  }

  #serveMore(): void {
    const next = this.#waiting.splice(0, AT_ONCE - this.#unanswered.size);
    this.#unanswered.waiting = this.#waiting.length;
    for (const { req, keepAlive } of next) this.#begin(req, keepAlive);
    if (this.#waiting.length > 0 || this.#unanswered.size > RESUME_AT) return;
    this.#isPaused = false;
    readingOf(this.#socket).resume(this);
  }
}
