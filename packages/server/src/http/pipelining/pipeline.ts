import type { Server, ServerResponse } from 'node:http';
import type { OpenResponses } from '../../metrics/open-responses.js';
import { openResponsesOn } from '../../metrics/requests.js';
import type { HttpSocket, ParsedRequest } from '../http-socket.js';
import { HeldBytes } from './held-bytes.js';
import { type Parsed, restored, type Stored, stored } from './stored-request.js';
import type { PipelineTurns } from './turns.js';

/** Requests of one connection that are served at once, and in one turn of the event loop. While more wait, it is not read. */
export const AT_ONCE = 16;

/** Most requests that may lack a response when reading goes on. */
const RESUME_AT = 8;

/** Bytes that are parsed at once: a few small requests. Node reads 64 KB, which may be 500 requests. */
const SLICE_BYTES = 512;

type Begin = (req: ParsedRequest, keepAlive: boolean) => number;

/** The requests of one connection, once it has sent too many at once. */
export class Pipeline {
  readonly #server: Server;
  readonly #socket: HttpSocket;
  /** The socket's own `resume`, which also reads on. */
  readonly #resume: () => HttpSocket;
  readonly #begin: Begin;
  readonly #turns: PipelineTurns;
  readonly #unanswered: OpenResponses<ServerResponse>;
  /** Node's own parser of what is read. */
  readonly #parse: (bytes: Buffer) => void;
  /** Requests that were parsed beyond the limit, because the parser cannot be stopped in the middle of its input. */
  #parsed: (Parsed | Stored)[] = [];
  readonly #held = new HeldBytes();
  #isReading = true;
  /** Requests begun in this turn of the event loop. */
  #begun = AT_ONCE;
  #isScheduled = false;
  /** How many requests this connection has added to `Turns.open`. */
  #counted = 0;
  /** Whether the connection is upgraded. */
  #isLeft = false;

  constructor(socket: HttpSocket, { server, begin, turns }: { server: Server; begin: Begin; turns: PipelineTurns }) {
    this.#socket = socket;
    this.#server = server;
    this.#begin = begin;
    this.#turns = turns;
    this.#unanswered = openResponsesOn(socket);
    this.#count();
    this.#unanswered.onFewer = () => {
      this.#count();
      turns.schedule();
      this.#goOn();
    };
    const [parse] = socket.listeners('data') as [(bytes: Buffer) => void];
    this.#parse = parse;
    socket.off('data', parse);
    // From now on Node passes on what it reads, and does not parse it first.
    socket.on('data', this.#onData);
    // A paused socket reads on until it has 16 KB, and gets 64 KB at a time.
    const read = socket._read.bind(socket);
    socket._read = (size) => {
      if (this.#isReading) read(size);
    };
    // Node resumes a socket whenever a request's body is read, or responses are read.
    const resume = socket.resume.bind(socket);
    this.#resume = () => {
      resume();
      this.#read(true);
      return socket;
    };
    socket.resume = () => {
      if (this.#unanswered.waiting === 0) return this.#resume();
      this.#goOn();
      return socket;
    };
    socket.once('close', () => this.dropHeld());
    this.#stop();
    this.#goOn();
  }

  add(req: ParsedRequest, keepAlive: boolean): number {
    if (this.#isUpgrade(req)) return this.#leaveTo(req, keepAlive);
    if (this.#hasRoom()) return this.#serve(req, keepAlive);
    const last = this.#parsed.pop();
    if (last) this.#parsed.push(stored(last));
    this.#parsed.push({ req, keepAlive });
    this.#tellWaiting();
    return 0;
  }

  /** Make the socket read, or stop reading, at once. */
  #read(isReading: boolean): void {
    this.#isReading = isReading;
    const handle = this.#socket._handle;
    if (!handle || handle.reading === isReading) return;
    handle.reading = isReading;
    if (isReading) handle.readStart();
    else handle.readStop();
  }

  readonly #onData = (bytes: Buffer): void => {
    this.#held.add(bytes);
    this.#tellWaiting();
    this.#stop();
    this.#goOn();
  };

  /** Stop reading. A socket that is only paused reads the same amount again, and keeps it itself. */
  #stop(): void {
    this.#socket.pause();
    this.#read(false);
  }

  /** Decide as Node does whether a request is an upgrade. A server without upgrades treats it as any other request. */
  #isUpgrade({ upgrade, method }: ParsedRequest): boolean {
    return upgrade === true && (method === 'CONNECT' || this.#server.listenerCount('upgrade') > 0);
  }

  /** Leave the connection to the listener that it is upgraded for. */
  #leaveTo(req: ParsedRequest, keepAlive: boolean): number {
    if (this.#parsed.length + this.#unanswered.size > 0) {
      this.#socket.destroy(); // No client asks for an upgrade without waiting for its responses.
      return 0;
    }
    this.#isLeft = true;
    this.#socket.off('data', this.#onData);
    this.#socket.resume = this.#resume;
    this.#read(true);
    this.#socket.unshift(this.#held.takeAll());
    this.#tellWaiting();
    return this.#begin(req, keepAlive);
  }

  /** Keep `Turns.open` up to date. */
  #count(): void {
    const { size } = this.#unanswered;
    this.#turns.open += size - this.#counted;
    this.#counted = size;
  }

  dropHeld(): void {
    this.#held.clear();
    this.#tellWaiting();
  }

  #tellWaiting(): void {
    this.#unanswered.waiting = this.#parsed.length + this.#held.count;
  }

  #hasRoom(): boolean {
    return this.#parsed.length === 0 && this.#begun < AT_ONCE && this.#unanswered.size < AT_ONCE;
  }

  #serve(req: ParsedRequest, keepAlive: boolean): number {
    this.#begun++;
    const goOn = this.#begin(req, keepAlive);
    this.#count();
    return goOn;
  }

  /** Go on when there is something to parse, or room for it. */
  #goOn(): void {
    if (this.#isScheduled || this.#unanswered.size > RESUME_AT) return;
    this.#isScheduled = true;
    this.#turns.ask(() => {
      this.#isScheduled = false;
      if (!this.#socket.destroyed) this.#serveMore();
    });
  }

  #serveMore(): void {
    this.#begun = 0;
    for (const one of this.#parsed.splice(0, AT_ONCE - this.#unanswered.size)) {
      const { req, keepAlive } = typeof one === 'string' ? restored(one, this.#socket) : one;
      this.#serve(req, keepAlive);
    }
    while (this.#hasRoom() && this.#turns.haveRoom && !this.#socket._paused && this.#socket.parser !== null) {
      if (!this.#held.take(SLICE_BYTES, this.#parse)) break;
    }
    this.#tellWaiting();
    if (this.#isLeft) return;
    this.#begun = AT_ONCE; // Nothing more until the next turn.
    if (this.#unanswered.waiting > 0) this.#goOn();
    else if (this.#unanswered.size <= RESUME_AT && !this.#socket._paused) this.#resume();
  }
}
