import type { ServerResponse } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';
import { closeAfter, type RequestMetrics } from '@yardmaster/server';
import type { Place } from '../limits/places.js';
import { onConnectionClosed } from './connection-close.js';

/** A call that starts to wait. */
export interface WaitingCall {
  res: ServerResponse;
  /** How long it may wait. */
  seconds: number;
  /** Tenant whose share of the waiting calls it uses; see tenantOf. */
  tenant: string;
  /** Its place among the requests in flight. A waiting call holds none, because it uses nothing but its connection. */
  place: Place;
}

export interface WaitRegistryOptions {
  /** Maximum number of waiting calls. */
  max: number;
  /** Aborted when the process is shutting down. */
  stopping: AbortSignal;
  requests: Pick<RequestMetrics, 'beginWait' | 'endWait'>;
}

/**
 * The waiting calls of this process. A wait ends when its time is up, when its caller disconnects, or when the process
 * shuts down.
 *
 * A tenant that is alone may take all places. While others wait, it gets at most half of them: its oldest waits end early
 * if their places are needed.
 */
export class WaitRegistry {
  readonly #options: WaitRegistryOptions;
  /** The functions that end a wait, oldest first, by tenant. */
  readonly #open = new Map<string, Set<() => void>>();
  #size = 0;

  constructor(options: WaitRegistryOptions) {
    this.#options = options;
    options.stopping.addEventListener('abort', () => {
      for (const own of [...this.#open.values()]) for (const end of [...own]) end();
    });
  }

  /** Number of waiting calls. */
  get size(): number {
    return this.#size;
  }

  /** Whether the process is shutting down, so that no call may start to wait. */
  get areOver(): boolean {
    return this.#options.stopping.aborted;
  }

  /** Return whether one more call of a tenant may wait. */
  hasRoomFor(tenant: string): boolean {
    const own = this.#open.get(tenant)?.size ?? 0;
    if (own === this.#size) return own < this.#options.max;
    return own < this.#half && (this.#size < this.#options.max || this.#overHalf() !== undefined);
  }

  get #half(): number {
    return Math.ceil(this.#options.max / 2);
  }

  /** Return the waits of the tenant that has more than half of the places, if any. */
  #overHalf(): Set<() => void> | undefined {
    for (const own of this.#open.values()) if (own.size > this.#half) return own;
    return undefined;
  }

  /**
   * Start a wait.
   *
   * @param onOver called once, unless the wait is ended first
   * @returns a function that ends the wait
   * @throws TOO_MANY_WAITERS
   */
  begin({ res, seconds, tenant, place }: WaitingCall, onOver: () => void): () => void {
    if (!this.hasRoomFor(tenant)) throw new YardmasterError('TOO_MANY_WAITERS');
    if (this.#size >= this.#options.max) this.#overHalf()?.values().next().value?.();
    const own = this.#open.get(tenant) ?? new Set();
    this.#open.set(tenant, own);
    const { requests, stopping } = this.#options;
    const end = () => {
      if (!own.delete(over)) return;
      this.#size--;
      if (own.size === 0) this.#open.delete(tenant);
      clearTimeout(timer);
      forget();
      requests.endWait(res);
      place.takeAgain();
      // The next call on this connection must go to another process.
      if (stopping.aborted) closeAfter(res);
    };
    const over = () => {
      end();
      onOver();
    };
    const timer = setTimeout(over, msOf(seconds));
    const forget = onConnectionClosed(res.req.socket, over);
    own.add(over);
    this.#size++;
    requests.beginWait(res);
    place.leave();
    return end;
  }
}

/** Waits of 10 seconds and more end together, up to a second early. */
const LONG_SECONDS = 10;
const STEP_MS = 1_000;

/**
 * Return how long a wait lasts. The calls of an idle fleet cost half as much if they arrive together, because a call that
 * wakes up a sleeping process finds cold CPU caches.
 */
function msOf(seconds: number): number {
  const ms = seconds * 1000;
  return seconds < LONG_SECONDS ? ms : ms - ((performance.now() + ms) % STEP_MS);
}
