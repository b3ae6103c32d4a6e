import type { StreamMetrics } from '../metrics.js';
import type { Transport } from './transport.js';

/** Unread bytes of a client beyond which progress reports are coalesced to the latest of each job. */
export const COALESCE_BYTES = 256 * 1024;

/** Unread bytes of a client beyond which its stream is closed. */
const CLOSE_BYTES = 1024 * 1024;

/** Send buffers whose connection is corked in this iteration of the event loop. */
let corked: SendBuffer[] = [];

function uncorkAll(): void {
  const all = corked;
  corked = [];
  for (const sendBuffer of all) sendBuffer.uncork();
}

/**
 * Frames waiting for a client, with a bounded size however slowly the client reads.
 *
 * All frames of one event loop iteration are sent in one write. The busier the process, the more frames share a write, and
 * the less each frame costs.
 */
export class SendBuffer {
  readonly #transport: Transport;
  readonly #onTooSlow: () => void;
  readonly #metrics: StreamMetrics;
  #isCorked = false;
  /** Latest progress frame of each job while the client is slow; null while it isn't. */
  #coalesced: Map<string, Buffer> | null = null;
  #coalescedBytes = 0;

  /** @param onTooSlow called if too many bytes are waiting; nothing should be sent after that */
  constructor(transport: Transport, { onTooSlow, metrics }: { onTooSlow: () => void; metrics: StreamMetrics }) {
    this.#transport = transport;
    this.#onTooSlow = onTooSlow;
    this.#metrics = metrics;
  }

  /** Bytes that the client has not read yet. */
  get waitingBytes(): number {
    return this.#transport.waitingBytes + this.#coalescedBytes;
  }

  /**
   * Send a frame after all earlier frames of its job.
   *
   * @param jobId job that the frame is about
   * @param isProgress whether a later progress frame of the same job may replace it while the client is slow
   */
  send(jobId: string, frame: Buffer, { isProgress }: { isProgress: boolean }): void {
    // Frames that only wait for the end of this iteration don't mean that the client is slow.
    if (this.#isCorked && this.waitingBytes + frame.length > COALESCE_BYTES) this.uncork();
    const waiting = this.waitingBytes;
    if (waiting + frame.length > CLOSE_BYTES) {
      this.drop();
      this.#onTooSlow();
    } else if (isProgress && (waiting > COALESCE_BYTES || this.#coalesced !== null)) {
      this.#coalesce(jobId, frame);
    } else {
      this.#flush(jobId);
      this.#write(frame);
    }
  }

  drop(): void {
    this.#coalesced = null;
    this.#coalescedBytes = 0;
  }

  uncork(): void {
    if (!this.#isCorked) return;
    this.#isCorked = false;
    this.#transport.uncork();
  }

  #write(frame: Buffer): void {
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#transport.cork();
      if (corked.length === 0) setImmediate(uncorkAll);
      corked.push(this);
    }
    this.#metrics.sent++;
    this.#transport.send(frame);
  }

  #coalesce(jobId: string, frame: Buffer): void {
    if (this.#coalesced === null) {
      this.#coalesced = new Map();
      this.#transport.onceDrained(() => this.#releaseAll());
    }
    this.#coalescedBytes += frame.length - (this.#coalesced.get(jobId)?.length ?? 0);
    // Move the frame to the end, to keep the order of the latest reports.
    this.#coalesced.delete(jobId);
    this.#coalesced.set(jobId, frame);
  }

  /** Send the coalesced frame of a job, because the next frame must not overtake it. */
  #flush(jobId: string): void {
    const frame = this.#coalesced?.get(jobId);
    if (frame === undefined) return;
    this.#coalesced?.delete(jobId);
    this.#coalescedBytes -= frame.length;
    this.#write(frame);
  }

  #releaseAll(): void {
    const coalesced = this.#coalesced;
    this.drop();
    for (const frame of coalesced?.values() ?? []) this.#write(frame);
  }
}
