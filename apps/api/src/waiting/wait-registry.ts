import type { ServerResponse } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';
import { closeAfter, type RequestMetrics } from '@yardmaster/server';
import type { Place } from '../limits/places.js';
import { onConnectionClosed } from './connection-close.js';

/** A call that waits, and how long it may. */
export interface WaitingCall {
  res: ServerResponse;
  seconds: number;
  /** Tenant whose share of the waiting calls it uses, see tenantOf. */
  tenant: string;
  /** Its place among the requests in flight. A call that waits has none, because it uses nothing but its connection. */
  place: Place;
}

export interface WaitRegistryOptions {
  /** Most calls that wait at once. */
  max: number;
  /** Aborted when the process is about to end. */
  stopping: AbortSignal;
  requests: Pick<RequestMetrics, 'beginWait' | 'endWait'>;
}

/**
 * The calls of this process that wait. Each wait is over at the end of its time, when its caller is gone, and when the
 * process is about to end.
 *
 * A tenant alone may have all places. While others wait, it gets at most half of them: its oldest waits end early when
 * the places are needed.
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

  /** How many calls wait. */
  get size(): number {
    return this.#size;
  }

  /** Whether the process is about to end, so that no call begins to wait. */
  get areOver(): boolean {
    return this.#options.stopping.aborted;
  }

  /** Whether one more call of a tenant may wait. */
  hasRoomFor(tenant: string): boolean {
    const own = this.#open.get(tenant)?.size ?? 0;
    if (own === this.#size) return own < this.#options.max;
    return own < this.#half && (this.#size < this.#options.max || this.#overHalf() !== undefined);
  }

  get #half(): number {
    return Math.ceil(this.#options.max / 2);
  }

  /** Return the waits of the tenant that has more than half of the places, if one has. */
  #overHalf(): Set<() => void> | undefined {
    for (const own of this.#open.values()) if (own.size > this.#half) return own;
    return undefined;
  }

  /**
   * Begin a wait.
   *
   * @param onOver called once, unless the wait was ended before
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
      // The next call of this connection must go to another process.
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
