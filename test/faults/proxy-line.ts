import { connect, type Socket } from 'node:net';
import { commandReader } from './commands.js';
import type { Ambush, Shared } from './proxy.js';

/** Bytes on their way in one direction, and what is kept of them. */
interface Direction {
  to: Socket;
  queue: { bytes: Buffer; dueAt: number }[];
  /** Its sender has closed: so does it, behind the last byte. */
  isEnding: boolean;
}

/**
 * One connection through a proxy. Either it passes on every byte in its order, or it is lost: from the first byte on that
 * is thrown away it passes on nothing in that direction any more.
 */
export class ProxyLine {
  readonly #client: Socket;
  readonly #redis: Socket;
  readonly #shared: Shared;
  readonly #toRedis: Direction;
  readonly #toClient: Direction;
  readonly #read = commandReader();
  /** Redis gets nothing more; the client gets nothing more. */
  #isDeaf = false;
  #isMute = false;
  #cutsClientAtReply = false;
  #subscribes = false;
  #gone: () => void = () => undefined;

  constructor(client: Socket, redisPort: number, shared: Shared) {
    this.#client = client;
    this.#shared = shared;
    this.#redis = connect(redisPort, '127.0.0.1').on('error', () => undefined);
    this.#toRedis = { to: this.#redis, queue: [], isEnding: false };
    this.#toClient = { to: client, queue: [], isEnding: false };
    if (shared.mode === 'drop') this.#isDeaf = this.#isMute = true;
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

  /** Whether it has thrown bytes away. */
  get isLost(): boolean {
    return this.#isDeaf || this.#isMute;
  }

  /** Call this once neither socket is there any more. */
  onGone(gone: () => void): void {
    this.#gone = gone;
  }

  /** Another mode is set. */
  goOn(): void {
    this.#pump(this.#toRedis);
    this.#pump(this.#toClient);
  }

  /** Whether it was ever used to hear of what is published. */
  get subscribes(): boolean {
    return this.#subscribes;
  }

  /** From now on nothing gets through it, and nobody is told. */
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
    const passed = this.#ambushed(bytes);
    if (this.#shared.mode === 'drop') this.#isDeaf = true;
    else this.#take(this.#toRedis, passed);
  }

  #fromRedis(bytes: Buffer): void {
    if (this.#shared.mode === 'drop') this.#isMute = true;
    if (!this.#isMute) this.#take(this.#toClient, bytes);
    else if (this.#cutsClientAtReply) this.#client.destroy();
  }

  /** Look for commands that somebody waits for, and return what of these bytes is passed on all the same. */
  #ambushed(bytes: Buffer): Buffer {
    for (const { words, start } of this.#read(bytes)) {
      if (/^s?subscribe$/i.test(words[0] ?? '')) this.#subscribes = true;
      for (const laid of [...this.#shared.laid]) {
        if (this.#isDeaf || !laid.matches(words)) continue;
        this.#meet(laid.what);
        laid.spring();
      }
      if (this.#isDeaf) return bytes.subarray(0, Math.max(0, start));
    }
    return bytes;
  }

  #meet(what: Ambush): void {
    if (what.does === 'notice') return;
    this.#isMute = true;
    this.#isDeaf = what.does === 'lose request';
    if (what.end === 'silence') return;
    if (this.#isDeaf) setImmediate(() => this.#client.destroy());
    else this.#cutsClientAtReply = true;
  }

  #take(direction: Direction, bytes: Buffer): void {
    const { mode } = this.#shared;
    const delayMs = typeof mode === 'object' ? mode.delayMs : 0;
    direction.queue.push({ bytes, dueAt: performance.now() + delayMs });
    if (delayMs > 0) setTimeout(() => this.#pump(direction), Math.ceil(delayMs) + 1);
    else this.#pump(direction);
  }

  /** Pass on what is due, in its order, and then the end. */
  #pump(direction: Direction): void {
    if (this.#shared.mode === 'pause') return;
    const { to, queue } = direction;
    while (queue[0] && queue[0].dueAt <= performance.now()) {
      const { bytes } = queue.shift() as Direction['queue'][number];
      if (!to.destroyed) to.write(bytes);
    }
    // Not destroyed: what Redis has of a client that was cut off is worked off before it hears of the end.
    if (direction.isEnding && queue.length === 0) to.end();
  }

  /** One side has closed. Behind a lost connection the other side does not hear of it, as when a router has forgotten it. */
  #closed(other: Direction, isLost: boolean): void {
    other.isEnding = true;
    if (!isLost) this.#pump(other);
    if (this.#client.destroyed && this.#redis.destroyed) this.#gone();
  }
}
