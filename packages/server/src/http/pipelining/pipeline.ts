import { IncomingMessage, type Server } from 'node:http';
import { type HttpSocket, type OpenResponses, openResponsesOf, type ParsedRequest } from '../connection.js';
import { BoundedReader, ByteQueue } from './bounded-reader.js';
import type { PipelineSchedule } from './pipeline-schedule.js';
import { type Parsed, restored, type Stored, stored } from './stored-request.js';

/**
 * Requests of one connection that are served at once, and in one turn of the event loop. While more wait, it is not
 * read.
 */
export const AT_ONCE = 16;

/** Most requests that may lack a response when reading continues. */
const RESUME_AT = 8;

/** Bytes that are parsed at once: a few small requests. Node reads 64 KB, which may be 500 requests. */
const SLICE_BYTES = 512;

export interface PipelineOptions {
  server: Server;
  /** Node's own start of a request. */
  begin: (req: ParsedRequest, keepAlive: boolean) => number;
  schedule: PipelineSchedule;
}

/** The requests of one connection, once it has sent too many at once. */
export class Pipeline {
  readonly #socket: HttpSocket;
  readonly #options: PipelineOptions;
  readonly #open: OpenResponses;
  readonly #reader: BoundedReader;
  /** Requests that were parsed beyond the limit, because the parser cannot be stopped in the middle of its input. */
  #parsed: (Parsed | Stored)[] = [];
  /** Class of the requests, which the server may have extended. */
  #Request: typeof IncomingMessage = IncomingMessage;
  /** Bytes that were read and not parsed yet. */
  readonly #unparsed = new ByteQueue();
  /** Requests begun in this turn of the event loop. */
  #begun = AT_ONCE;
  #isScheduled = false;
  /** How many requests this connection has added to `PipelineSchedule.open`. */
  #counted = 0;
  #isUpgraded = false;

  constructor(socket: HttpSocket, options: PipelineOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#open = openResponsesOf(socket);
    this.#count();
    this.#open.onFewer = () => {
      this.#count();
      options.schedule.schedule();
      this.#goOn();
    };
    this.#reader = new BoundedReader(socket, {
      onData: (bytes) => this.#addBytes(bytes),
      mayResume: () => this.#open.waiting === 0,
      onResumeRefused: () => this.#goOn(),
    });
    socket.once('close', () => this.dropBytes());
    this.#goOn();
  }

  /** Add a request that Node has parsed. @returns the value that Node expects of `onIncoming` */
  add(req: ParsedRequest, keepAlive: boolean): number {
    if (this.#isUpgrade(req)) return this.#upgrade(req, keepAlive);
    if (this.#hasRoom()) return this.#serve(req, keepAlive);
    this.#Request = req.constructor as typeof IncomingMessage;
    const last = this.#parsed.pop();
    if (last) this.#parsed.push(stored(last));
    this.#parsed.push({ req, keepAlive });
    this.#updateWaiting();
    return 0;
  }

  /** Drop the bytes that were read and not parsed yet. */
  dropBytes(): void {
    this.#unparsed.clear();
    this.#updateWaiting();
  }

  #addBytes(bytes: Buffer): void {
    this.#unparsed.add(bytes);
    this.#updateWaiting();
    this.#reader.stop();
    this.#goOn();
  }

  /** Decide as Node does whether a request is an upgrade. A server without upgrades treats it as any other request. */
  #isUpgrade({ upgrade, method }: ParsedRequest): boolean {
    return upgrade === true && (method === 'CONNECT' || this.#options.server.listenerCount('upgrade') > 0);
  }

  /** Leave the connection to the listener that it is upgraded for. */
  #upgrade(req: ParsedRequest, keepAlive: boolean): number {
    if (this.#parsed.length + this.#open.size > 0) {
      this.#socket.destroy(); // No client asks for an upgrade without waiting for its responses.
      return 0;
    }
    this.#isUpgraded = true;
    this.#reader.release(this.#unparsed.takeAll());
    this.#updateWaiting();
    return this.#options.begin(req, keepAlive);
  }

  /** Keep `PipelineSchedule.open` up to date. */
  #count(): void {
    const { size } = this.#open;
    this.#options.schedule.open += size - this.#counted;
    this.#counted = size;
  }

  #updateWaiting(): void {
    this.#open.waiting = this.#parsed.length + this.#unparsed.count;
  }

  #hasRoom(): boolean {
    return this.#parsed.length === 0 && this.#begun < AT_ONCE && this.#open.size < AT_ONCE;
  }

  #serve(req: ParsedRequest, keepAlive: boolean): number {
    this.#begun++;
    const result = this.#options.begin(req, keepAlive);
    this.#count();
    return result;
  }

  /** Continue when there is something to parse, or room for it. */
  #goOn(): void {
    if (this.#isScheduled || this.#open.size > RESUME_AT) return;
    this.#isScheduled = true;
    this.#options.schedule.ask(() => {
      this.#isScheduled = false;
      if (!this.#socket.destroyed) this.#serveMore();
    });
  }

  #serveMore(): void {
    this.#begun = 0;
    for (const one of this.#parsed.splice(0, AT_ONCE - this.#open.size)) {
      const { req, keepAlive } = typeof one === 'string' ? restored(one, this.#socket, this.#Request) : one;
      this.#serve(req, keepAlive);
    }
    const { schedule } = this.#options;
    while (this.#hasRoom() && schedule.hasRoom && !this.#socket._paused && this.#socket.parser !== null) {
      if (!this.#unparsed.take(SLICE_BYTES, this.#reader.parse)) break;
    }
    this.#updateWaiting();
    if (this.#isUpgraded) return;
    this.#begun = AT_ONCE; // Begin no more requests until the next turn.
    if (this.#open.waiting > 0) this.#goOn();
    else if (this.#open.size <= RESUME_AT && !this.#socket._paused) this.#reader.resume();
  }
}
