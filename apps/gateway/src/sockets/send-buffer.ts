import type { StreamMetrics } from '../metrics.js';
import type { Transport } from './transport.js';

/** Bytes that may wait for a client before progress reports are coalesced to the latest of each job. */
export const COALESCE_BYTES = 256 * 1024;

/** Bytes that may wait for a client before its stream is closed. */
const CLOSE_BYTES = 1024 * 1024;

/** Send buffers whose connection is corked in this turn of the event loop. */
let corked: SendBuffer[] = [];

function uncorkAll(): void {
  const all = corked;
  corked = [];
  for (const sendBuffer of all) sendBuffer.uncork();
}

/**
 * The frames that wait for one client. Their bytes are bounded, however slowly the client reads.
 *
 * All frames of one turn of the event loop become one write. The busier the process is, the more frames share a write,
 * and the less each frame costs.
 */
export class SendBuffer {
  readonly #transport: Transport;
  readonly #onTooSlow: () => void;
  readonly #metrics: StreamMetrics;
  #isCorked = false;
  /** Coalesced frames: the latest progress frame of each job while the client is slow; null while it is not. */
  #coalesced: Map<string, Buffer> | null = null;
  #coalescedBytes = 0;

  /** @param onTooSlow called when more bytes wait than allowed; nothing should be sent after that */
  constructor(transport: Transport, { onTooSlow, metrics }: { onTooSlow: () => void; metrics: StreamMetrics }) {
    this.#transport = transport;
    this.#onTooSlow = onTooSlow;
    this.#metrics = metrics;
  }

  /** Bytes that the client has not taken yet. */
  get waitingBytes(): number {
    return this.#transport.waitingBytes + this.#coalescedBytes;
  }

  /**
   * Send a frame, after all earlier frames of its job.
   *
   * @param jobId the job that the frame is about
   * @param isProgress whether a later progress frame of the same job may replace it while the client is slow
   */
  send(jobId: string, frame: Buffer, { isProgress }: { isProgress: boolean }): void {
    // Frames that wait only for the end of this turn do not show that the client is slow.
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
    // Move the frame to the end, so that the order stays that of the latest reports.
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
