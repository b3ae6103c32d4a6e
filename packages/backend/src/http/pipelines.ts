import { IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { OpenResponses } from '../metrics/open-responses.js';
import { unansweredOn } from '../metrics/requests.js';
import { HeldBytes } from './held-bytes.js';

/** Requests of one connection that are served at once, and in one turn of the event loop; while more wait, nothing is read. */
const AT_ONCE = 16;

/** Requests that may be unanswered when reading goes on. */
const RESUME_AT = 8;

/** Bytes that are parsed at once: a few small requests. Node reads 64 KB, which may be 500. */
const SLICE_BYTES = 512;

/** How long connections that pipeline are served in one turn of the event loop, before all others have theirs. */
const TURN_MS = 2;

/** Requests of all those connections that are served at once. With more, each takes so long that V8 frees its memory late. */
const OPEN_AT_MOST = 32;

const PIPELINE = Symbol('requests that wait on a connection');

/** What Node's HTTP server has on a socket; there is nothing public to bound what it parses. */
interface HttpSocket extends Socket {
  parser: {
    /** Called with the head of each request; what it returns says how to go on: 2 for an upgrade, else 0. */
    onIncoming: (req: Incoming, keepAlive: boolean) => number;
  } | null;
  _handle: { reading: boolean; readStart(): void; readStop(): void } | null;
  _paused: boolean; // Whether the server has stopped reading, because responses are not read.
  [PIPELINE]?: Pipeline;
}

type Incoming = IncomingMessage & { upgrade?: boolean };
type Begin = (req: Incoming, keepAlive: boolean) => number;

/**
 * Bound how many requests of one connection are served at once. A client may send requests without waiting for responses
 * (pipelining): Node would begin to serve all that it reads.
 *
 * From a connection that has sent too many once, only some bytes are parsed at a time; the others wait as they came, and the
 * socket is paused. Such connections share a short time in each turn of the event loop, so that other callers do not wait.
 */
export function boundPipelines(server: Server): void {
  const turns = new Turns();
  server.on('connection', (socket: HttpSocket) => {
    const { parser } = socket;
    if (parser === null) return;
    const begin = parser.onIncoming;
    const unanswered = unansweredOn(socket);
    let [turn, begun] = [0, 0];
    parser.onIncoming = (req, keepAlive) => {
      if (socket[PIPELINE] === undefined) {
        // Refusals are responded to before the next request is parsed: without this they would not be bounded.
        begun = turn === turns.current() ? begun + 1 : 1;
        turn = turns.current();
        if (begun <= AT_ONCE && unanswered.size < AT_ONCE) return begin(req, keepAlive);
        socket[PIPELINE] = new Pipeline(socket, { server, begin, turns });
      }
      return socket[PIPELINE].add(req, keepAlive);
    };
  });
  // What follows something that is no request cannot be told from it.
  server.prependListener('clientError', (_error, socket) => (socket as HttpSocket)[PIPELINE]?.dropHeld());
}

/** The requests of one connection, once it has sent too many at once. */
class Pipeline {
  readonly #server: Server;
  readonly #socket: HttpSocket;
  /** As the socket does by itself. */
  readonly #resume: () => HttpSocket;
  readonly #begin: Begin;
  readonly #turns: Turns;
  readonly #unanswered: OpenResponses<ServerResponse>;
  /** Node's own parsing of what is read. */
  readonly #parse: (bytes: Buffer) => void;
  /** Requests that were parsed too many, since the parser cannot be stopped within what it was given. */
  #parsed: (Parsed | Stored)[] = [];
  readonly #held = new HeldBytes();
  /** Requests begun in this turn of the event loop. */
  #begun = AT_ONCE;
  #isScheduled = false;
  /** Its part of `open`. */
  #counted = 0;
  /** Whether the connection is upgraded. */
  #isLeft = false;

  constructor(socket: HttpSocket, { server, begin, turns }: { server: Server; begin: Begin; turns: Turns }) {
    this.#socket = socket;
    this.#server = server;
    this.#begin = begin;
    this.#turns = turns;
    this.#unanswered = unansweredOn(socket);
    this.#count();
    this.#unanswered.onFewer = () => {
      this.#count();
      turns.schedule();
      this.#goOn();
    };
    const [parse] = socket.listeners('data') as [(bytes: Buffer) => void];
    this.#parse = parse;
    socket.off('data', parse);
    // From now on Node passes on what it reads, and does not parse it before.
    socket.on('data', this.#onData);
    // Node resumes a socket whenever a request's body is read, or responses are.
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
    socket.pause();
    this.#goOn();
  }

  add(req: Incoming, keepAlive: boolean): number {
    if (this.#isUpgrade(req)) return this.#leaveTo(req, keepAlive);
    if (this.#hasRoom()) return this.#serve(req, keepAlive);
    const last = this.#parsed.pop();
    if (last) this.#parsed.push(stored(last));
    this.#parsed.push({ req, keepAlive });
    this.#tellWaiting();
    return 0;
  }

  /** Have the socket read, or not, at once. */
  #read(isReading: boolean): void {
    const handle = this.#socket._handle;
    if (!handle || handle.reading === isReading) return;
    handle.reading = isReading;
    if (isReading) handle.readStart();
    else handle.readStop();
  }

  readonly #onData = (bytes: Buffer): void => {
    this.#held.add(bytes);
    this.#tellWaiting();
    this.#socket.pause();
    this.#read(false); // Else it reads as much again, to keep it itself.
    this.#goOn();
  };

  /** As Node does. A server that upgrades nothing takes it for any other request. */
  #isUpgrade({ upgrade, method }: Incoming): boolean {
    return upgrade === true && (method === 'CONNECT' || this.#server.listenerCount('upgrade') > 0);
  }

  /** Leave the connection to whoever it is upgraded for. */
  #leaveTo(req: Incoming, keepAlive: boolean): number {
    if (this.#parsed.length + this.#unanswered.size > 0) {
      this.#socket.destroy(); // No client asks for that without waiting for its responses.
      return 0;
    }
    this.#isLeft = true;
    this.#socket.off('data', this.#onData);
    this.#socket.resume = this.#resume;
    this.#read(true);
    this.#socket.unshift(this.#held.take(Number.POSITIVE_INFINITY) ?? Buffer.alloc(0));
    this.dropHeld();
    return this.#begin(req, keepAlive);
  }

  /** Keep `open` true. */
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

  #serve(req: Incoming, keepAlive: boolean): number {
    this.#begun++;
    const goOn = this.#begin(req, keepAlive);
    this.#count();
    return goOn;
  }

  /** Called when there is something to parse, or room for it. */
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
      const { req, keepAlive } = 'req' in one ? one : restored(one, this.#socket);
      this.#serve(req, keepAlive);
    }
    while (this.#hasRoom() && this.#turns.haveRoom && !this.#socket._paused && this.#socket.parser !== null) {
      const next = this.#held.take(SLICE_BYTES);
      if (next === null) break;
      this.#parse(next);
    }
    this.#tellWaiting();
    if (this.#isLeft) return;
    this.#begun = AT_ONCE; // Until the next turn.
    if (this.#unanswered.waiting > 0) this.#goOn();
    else if (this.#unanswered.size <= RESUME_AT && !this.#socket._paused) this.#resume();
  }
}

/** A request that waits, with the part of its body that has come so far. */
interface Parsed {
  req: Incoming;
  keepAlive: boolean;
}

/** One with all of its body, in a tenth of the memory: there may be 500, parsed before it was known that they are too many. */
interface Stored
  extends Pick<IncomingMessage, 'method' | 'url' | 'httpVersion' | 'httpVersionMajor' | 'httpVersionMinor'> {
  /** Names and values of its headers, with a line break behind each but the last. */
  head: string;
  body: Buffer | null;
  keepAlive: boolean;
}

function stored(parsed: Parsed | Stored): Parsed | Stored {
  if (!('req' in parsed) || !parsed.req.complete || parsed.req.rawTrailers.length > 0) return parsed;
  const { req, keepAlive } = parsed;
  const { method, url, httpVersion, httpVersionMajor, httpVersionMinor, rawHeaders } = req;
  const line = { method, url, httpVersion, httpVersionMajor, httpVersionMinor };
  return { ...line, head: rawHeaders.join('\n'), body: req.read(), keepAlive };
}

/** As Node makes a request. */
function restored({ head, body, keepAlive, ...line }: Stored, socket: Socket): Parsed {
  const req = Object.assign(new IncomingMessage(socket), line, { upgrade: false });
  const headers = head.split('\n');
  (req as unknown as { _addHeaderLines(headers: string[], count: number): void })._addHeaderLines(
    headers,
    headers.length,
  );
  req.complete = true; // Not before: Node would take them for trailers.
  if (body !== null) req.push(body);
  req.push(null);
  return { req, keepAlive };
}

/** Lets connections go on in the order in which they ask, for a short time in each turn of the event loop. */
class Turns {
  /** Requests of theirs that are served and not answered yet. */
  open = 0;
  #waiting: (() => void)[] = [];
  #isScheduled = false;
  #number = 1;
  #isCounted = false;

  /** The number of the turn of now. */
  current(): number {
    if (!this.#isCounted) {
      this.#isCounted = true;
      setImmediate(() => {
        this.#isCounted = false;
        this.#number++;
      });
    }
    return this.#number;
  }

  ask(goOn: () => void): void {
    this.#waiting.push(goOn);
    this.schedule();
  }

  get haveRoom(): boolean {
    return this.open < OPEN_AT_MOST;
  }

  /** Called when one asks, and when there is room again. */
  schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0 || !this.haveRoom) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#run();
      this.schedule();
    });
  }

  #run(): void {
    const waiting = this.#waiting;
    this.#waiting = []; // Who asks meanwhile comes behind those.
    let served = 0;
    for (
      const end = performance.now() + TURN_MS;
      served < waiting.length && this.haveRoom && performance.now() < end;
      served++
    )
      waiting[served]?.();
    this.#waiting = waiting.slice(served).concat(this.#waiting);
  }
}
