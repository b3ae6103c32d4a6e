import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { StreamMetrics } from './stream-metrics.js';

/** Bytes that may wait for a socket before progress reports are thinned out to the latest of each job. */
export const THIN_OUT_BYTES = 256 * 1024;

/** Bytes that may wait for a socket before it is given up. */
const GIVE_UP_BYTES = 1024 * 1024;

const TEXT = { binary: false };

/** Outboxes whose socket is corked in this turn of the event loop. */
let corked: Outbox[] = [];

function uncorkAll(): void {
  const all = corked;
  corked = [];
  for (const outbox of all) outbox.uncork();
}

/**
 * What is on its way to one socket, bounded however slowly its client reads.
 *
 * All that comes in one turn of the event loop becomes one write: the busier the process, the more messages share a
 * write, and the less each of them costs.
 */
export class Outbox {
  readonly #ws: WebSocket;
  readonly #socket: Duplex;
  readonly #onTooSlow: () => void;
  readonly #metrics: StreamMetrics;
  #isCorked = false;
  /** Latest progress frame of each job, kept back while the client is slow; null while it is not. */
  #held: Map<string, Buffer> | null = null;
  #heldBytes = 0;

  /**
   * @param socket the TCP socket below the WebSocket
   * @param onTooSlow told when more waits than may; nothing should be sent any more
   */
  constructor(
    ws: WebSocket,
    socket: Duplex,
    { onTooSlow, metrics }: { onTooSlow: () => void; metrics: StreamMetrics },
  ) {
    this.#ws = ws;
    this.#socket = socket;
    this.#onTooSlow = onTooSlow;
    this.#metrics = metrics;
  }

  /** Bytes that the client has not taken yet. */
  get waitingBytes(): number {
    return this.#ws.bufferedAmount + this.#heldBytes;
  }

  /**
   * Send a frame, after all that came before it.
   *
   * @param jobId the job it is about
   * @param isProgress whether a later one of the same job may take its place while the client is slow
   */
  send(jobId: string, frame: Buffer, { isProgress }: { isProgress: boolean }): void {
    // What waits only for the end of this turn says nothing about the client.
    if (this.#isCorked && this.waitingBytes + frame.length > THIN_OUT_BYTES) this.uncork();
    const waiting = this.waitingBytes;
    if (waiting + frame.length > GIVE_UP_BYTES) {
      this.drop();
      this.#onTooSlow();
    } else if (isProgress && (waiting > THIN_OUT_BYTES || this.#held !== null)) {
      this.#hold(jobId, frame);
    } else {
      this.#release(jobId);
      this.#write(frame);
    }
  }

  /** Forget what is kept back. */
  drop(): void {
    this.#held = null;
    this.#heldBytes = 0;
  }

  uncork(): void {
    if (!this.#isCorked) return;
    this.#isCorked = false;
    this.#socket.uncork();
  }

  #write(frame: Buffer): void {
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
      if (corked.length === 0) setImmediate(uncorkAll);
      corked.push(this);
    }
    this.#metrics.sent++;
    this.#ws.send(frame, TEXT);
  }

  #hold(jobId: string, frame: Buffer): void {
    if (this.#held === null) {
      this.#held = new Map();
      this.#socket.once('drain', () => this.#releaseAll());
    }
    this.#heldBytes += frame.length - (this.#held.get(jobId)?.length ?? 0);
    // To the end, so that the order stays that of the latest reports.
    this.#held.delete(jobId);
    this.#held.set(jobId, frame);
  }

  /** Send what is kept back of a job, since what follows must not overtake it. */
  #release(jobId: string): void {
    const frame = this.#held?.get(jobId);
    if (frame === undefined) return;
    this.#held?.delete(jobId);
    this.#heldBytes -= frame.length;
    this.#write(frame);
  }

  #releaseAll(): void {
    const held = this.#held;
    this.drop();
    for (const frame of held?.values() ?? []) this.#write(frame);
  }
}
