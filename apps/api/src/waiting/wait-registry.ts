import type { ServerResponse } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';
import { closeAfter, type RequestMetrics } from '@yardmaster/server';
import { onConnectionClosed } from './connection-close.js';

/** A call that waits, and how long it may. */
export interface WaitingCall {
  res: ServerResponse;
  seconds: number;
}

export interface WaitRegistryOptions {
  /** Most calls that wait at once. */
  max: number;
  /** Aborted when the process is about to end. */
  stopping: AbortSignal;
  requests: Pick<RequestMetrics, 'beginWait' | 'endWait'>;
}

/**
 * The calls of this process that wait. A call that waits is not in flight, because it uses nothing but its connection.
 * Each wait is over at the end of its time, when its caller is gone, and when the process is about to end.
 */
export class WaitRegistry {
  readonly #options: WaitRegistryOptions;
  readonly #open = new Set<() => void>();

  constructor(options: WaitRegistryOptions) {
    this.#options = options;
    options.stopping.addEventListener('abort', () => {
      for (const end of [...this.#open]) end();
    });
  }

  /** How many calls wait. */
  get size(): number {
    return this.#open.size;
  }

  /** Whether the process is about to end, so that no call begins to wait. */
  get areOver(): boolean {
    return this.#options.stopping.aborted;
  }

  /** Whether one more call may wait. */
  get hasRoom(): boolean {
    return this.#open.size < this.#options.max;
  }

  /**
   * Begin a wait.
   *
   * @param onOver called once, unless the wait was ended before
   * @returns a function that ends the wait
   * @throws TOO_MANY_WAITERS
   */
  begin({ res, seconds }: WaitingCall, onOver: () => void): () => void {
    if (!this.hasRoom) throw new YardmasterError('TOO_MANY_WAITERS');
    const { requests, stopping } = this.#options;
    const end = () => {
      if (!this.#open.delete(over)) return;
      clearTimeout(timer);
      forget();
      requests.endWait(res);
      // The next call of this connection must go to another process.
      if (stopping.aborted) closeAfter(res);
    };
    const over = () => {
      end();
      onOver();
    };
    const timer = setTimeout(over, msOf(seconds));
    const forget = onConnectionClosed(res.req.socket, over);
    this.#open.add(over);
    requests.beginWait(res);
    return end;
  }
}

/** Waits of 10 s and more end together, at most a second early. */
const LONG_SECONDS = 10;
const STEP_MS = 1_000;

/**
 * Return how long a wait lasts. Calls of an idle fleet cost half as much when they come together, because a call that
 * wakes a process that sleeps finds nothing in the processor's caches.
 */
function msOf(seconds: number): number {
  const ms = seconds * 1000;
  return seconds < LONG_SECONDS ? ms : ms - ((performance.now() + ms) % STEP_MS);
}
