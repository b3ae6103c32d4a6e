import { connect, type Socket } from 'node:net';

/**
 * - `pass`: bytes are passed on.
 * - `{ delayMs }`: bytes are passed on later, in both directions.
 * - `drop`: bytes are dropped, and sockets stay open. A connection that has lost bytes stays lost, since TCP has no
 *   gaps; new connections are accepted and lost.
 */
export type Mode = 'pass' | 'drop' | { delayMs: number };

export type Interception =
  | { action: 'observe' }
  /**
   * `lose reply`: pass the command on, but no more bytes of Redis on that connection; replies to earlier commands are also
   * lost. `lose request`: Redis does not get the command either. Then cut the connection, or stay silent until its owner
   * gives up.
   */
  | { action: 'lose reply' | 'lose request'; end: 'cut' | 'silence' };

/** An interception that waits for its command. */
export interface Trap {
  matches: (words: string[]) => boolean;
  what: Interception;
  spring(): void;
}

/** What the connections of a proxy share. */
export interface Shared {
  mode: Mode;
  traps: Set<Trap>;
}

/** Bytes on their way in one direction. */
interface Direction {
  to: Socket;
  queue: { bytes: Buffer; dueAt: number }[];
  /** Its sender has closed, so the receiver is closed after the last byte. */
  isEnding: boolean;
}

/**
 * One connection through a proxy. Either every byte is passed on in order, or the connection is lost: after the first
 * dropped byte, nothing is passed on in that direction.
 */
export class ProxyConnection {
  readonly #client: Socket;
  readonly #redis: Socket;
  readonly #shared: Shared;
  readonly #toRedis: Direction;
  readonly #toClient: Direction;
  readonly #commandsIn = commandReader();
  /** Redis gets nothing more; the client gets nothing more. */
  #isDeaf = false;
  #isMute = false;
  #cutsAtReply = false;
  #subscribes = false;
  #gone: () => void = () => undefined;

  constructor(client: Socket, redisPort: number, shared: Shared) {
    this.#client = client;
    this.#shared = shared;
    this.#redis = connect(redisPort, '127.0.0.1').on('error', () => undefined);
    this.#toRedis = { to: this.#redis, queue: [], isEnding: false };
    this.#toClient = { to: client, queue: [], isEnding: false };
    if (shared.mode === 'drop') this.lose();
    client.setNoDelay();
    this.#redis.setNoDelay();
    client.on('data', (bytes) => this.#fromClient(bytes));
    this.#redis.on('data', (bytes) => this.#fromRedis(bytes));
    client.on('close', () => this.#closed(this.#toRedis, this.#isDeaf));
    this.#redis.on('close', () => this.#closed(this.#toClient, this.#isMute));
  }

  get isOpen(): boolean {
    return !this.#client.destroyed;
  }

  get isLost(): boolean {
    return this.#isDeaf || this.#isMute;
  }

  /** Whether it has ever subscribed to a channel. */
  get subscribes(): boolean {
    return this.#subscribes;
  }

  /** Call this once both sockets are closed. */
  onGone(gone: () => void): void {
    this.#gone = gone;
  }

  /** Pass on no bytes and no end from now on. */
  lose(): void {
    this.#isDeaf = this.#isMute = true;
  }

  reset(): void {
    // A socket that is ending already cannot be reset, and Node would then never close it.
    for (const socket of [this.#client, this.#redis])
      socket.writableEnded ? socket.destroy() : socket.resetAndDestroy();
  }

  #fromClient(bytes: Buffer): void {
    if (this.#isDeaf) return;
    const passed = this.#intercepted(bytes);
    if (this.#shared.mode === 'drop') this.#isDeaf = true;
    else this.#take(this.#toRedis, passed);
  }

  #fromRedis(bytes: Buffer): void {
    if (this.#shared.mode === 'drop') this.#isMute = true;
    if (!this.#isMute) this.#take(this.#toClient, bytes);
    else if (this.#cutsAtReply) this.#client.destroy();
  }

  /** Intercept the commands that match a trap. @returns the bytes that are passed on */
  #intercepted(bytes: Buffer): Buffer {
    for (const { words, start } of this.#commandsIn(bytes)) {
      if (/^s?subscribe$/i.test(words[0] ?? '')) this.#subscribes = true;
      for (const trap of [...this.#shared.traps]) {
        if (this.#isDeaf || !trap.matches(words)) continue;
        this.#intercept(trap.what);
        trap.spring();
      }
      if (this.#isDeaf) return bytes.subarray(0, Math.max(0, start));
    }
    return bytes;
  }

  #intercept(what: Interception): void {
    if (what.action === 'observe') return;
    this.#isMute = true;
    this.#isDeaf = what.action === 'lose request';
    if (what.end === 'silence') return;
    if (this.#isDeaf) setImmediate(() => this.#client.destroy());
    else this.#cutsAtReply = true;
  }

  #take(direction: Direction, bytes: Buffer): void {
    const { mode } = this.#shared;
    const delayMs = typeof mode === 'object' ? mode.delayMs : 0;
    direction.queue.push({ bytes, dueAt: performance.now() + delayMs });
    if (delayMs > 0) setTimeout(() => this.#pump(direction), Math.ceil(delayMs) + 1);
    else this.#pump(direction);
  }

  /** Pass on the bytes that are due, in order, and then the end. */
  #pump(direction: Direction): void {
    const { to, queue } = direction;
    while (queue[0] && queue[0].dueAt <= performance.now()) {
      const { bytes } = queue.shift() as Direction['queue'][number];
      if (!to.destroyed) to.write(bytes);
    }
    // Not destroyed, so that Redis executes what it has received before it sees the end.
    if (direction.isEnding && queue.length === 0) to.end();
  }

  /** Handle the close of one side. The other side of a lost connection does not see it, as when a router lost its state. */
  #closed(other: Direction, isLost: boolean): void {
    other.isEnding = true;
    if (!isLost) this.#pump(other);
    if (this.#client.destroyed && this.#redis.destroyed) this.#gone();
  }
}

/** A command in the bytes of a client, e.g. `['evalsha', sha1, '1', key]`, and where it begins in the newest chunk. */
interface Command {
  words: string[];
  /** Below 0 when it began in an earlier chunk. */
  start: number;
}

/** Make a function that reads the commands out of chunks, in the one form that ioredis sends: arrays of bulk strings. */
function commandReader(): (chunk: Buffer) => Command[] {
  let kept = Buffer.alloc(0);
  return (chunk) => {
    const before = kept.length;
    kept = Buffer.concat([kept, chunk]);
    const commands: Command[] = [];
    let start = 0;
    for (let next = commandAt(kept, start); next !== null; next = commandAt(kept, start)) {
      commands.push({ words: next.words, start: start - before });
      start = next.end;
    }
    kept = kept.subarray(start);
    return commands;
  };
}

/** Parse the command that begins there; null while some of it is missing. */
function commandAt(bytes: Buffer, start: number): { words: string[]; end: number } | null {
  const count = numberAt(bytes, start);
  if (count === null) return null;
  const words: string[] = [];
  let { end } = count;
  for (let i = 0; i < count.value; i++) {
    const length = numberAt(bytes, end);
    if (length === null || length.end + length.value + 2 > bytes.length) return null;
    words.push(bytes.toString('latin1', length.end, length.end + length.value));
    end = length.end + length.value + 2;
  }
  return { words, end };
}

/** Parse the number after a `*` or a `$`, up to the end of its line. */
function numberAt(bytes: Buffer, start: number): { value: number; end: number } | null {
  const lineEnd = bytes.indexOf('\r\n', start);
  if (lineEnd < 0) return null;
  return { value: Number(bytes.toString('latin1', start + 1, lineEnd)), end: lineEnd + 2 };
}
