import { YardmasterError } from '@yardmaster/protocol';
import { type QueuedTimeout, TimeoutQueue } from '@yardmaster/redis';
import { within } from '@yardmaster/server';
import { FairQueue, type Store } from '@yardmaster/store';
import { AdaptiveLimit } from './adaptive-limit.js';

/** How long a request may wait; then it is refused without having been sent, milliseconds. */
const WAIT_MS = 500;

/** Slot of a request at Redis. */
export interface RedisSlot {
  /** When the request ends as UNAVAILABLE, by `performance.now()`. */
  endsAt: number;
  /** Release the slot; to be called before the request waits for anything except Redis. */
  release(): void;
}

/** A request on its way to Redis. */
export interface RedisRequest<T> {
  /** Whether it goes before all that are not urgent: a running job must not time out because others are created. */
  isUrgent: boolean;
  /** Owners share the slots fairly: id of the API key, or the address of a client whose key is not known yet. */
  owner: string;
  /** How long it may take in total, milliseconds. */
  withinMs: number;
  run(slot: RedisSlot): Promise<T>;
}

interface Waiting {
  send(): void;
  timeout: QueuedTimeout;
}

/**
 * Semaphore of requests at Redis, with a fair queue: it admits as many as Redis can serve soon. The others wait here,
 * because urgent requests can pass them here, but not in Redis.
 */
export class RedisQueue {
  readonly #limit = new AdaptiveLimit();
  readonly #urgent = new FairQueue<Waiting>();
  readonly #others = new FairQueue<Waiting>();
  readonly #timeouts = new TimeoutQueue(WAIT_MS);
  readonly #leastMs: number;
  #underWay = 0;

  /** @param leastMs how long Redis may take to carry out a request; with less time left, a request is not sent */
  constructor(leastMs: number) {
    this.#leastMs = leastMs;
  }

  /** Number of requests at Redis. */
  get underWay(): number {
    return this.#underWay;
  }

  /** How many requests may be at Redis. */
  get limit(): number {
    return this.#limit.value;
  }

  /** Number of requests that wait for a slot. */
  get waiting(): number {
    return this.#urgent.size + this.#others.size;
  }

  /** Send a request. @throws OVERLOADED when not sent in time; UNAVAILABLE when it took too long; any error of `run` */
  withSlot<T>(request: RedisRequest<T>): Promise<T> {
    const now = performance.now();
    if (this.#underWay < this.#limit.value) return this.#sendNow(request, now, request.withinMs);
    this.#limit.recordReached();
    const queue = request.isUrgent ? this.#urgent : this.#others;
    return new Promise((resolve, reject) => {
      const send = () => {
        const sentAt = performance.now();
        this.#sendNow(request, sentAt, request.withinMs - (sentAt - now)).then(resolve, reject);
      };
      const timeout = this.#timeouts.begin(() => {
        // All requests wait equally long, so this is the oldest of its owner.
        queue.drop(request.owner);
        reject(new YardmasterError('OVERLOADED'));
      });
      queue.push(request.owner, { send, timeout });
    });
  }

  #sendNow<T>({ run }: RedisRequest<T>, sentAt: number, leftMs: number): Promise<T> {
    if (leftMs < this.#leastMs) return Promise.reject(new YardmasterError('OVERLOADED'));
    const others = this.#underWay++;
    let isReleased = false;
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      this.#underWay--;
      const now = performance.now();
      this.#limit.record(now - sentAt, now, others);
      this.#sendMore();
    };
    try {
      return within(leftMs, run({ endsAt: sentAt + leftMs, release }), release);
    } catch (error) {
      release(); // `run` may refuse a request before it is sent.
      return Promise.reject(error);
    }
  }

  #sendMore(): void {
    while (this.#underWay < this.#limit.value) {
      const next = this.#urgent.shift() ?? this.#others.shift();
      if (next === undefined) return;
      next.item.timeout.clear();
      next.item.send();
    }
  }
}

/** How many milliseconds before the limit a long read ends as OVERLOADED, so that it does not end as UNAVAILABLE. */
const RESPOND_BEFORE_MS = 200;

/** Return a store whose long reads release their slot at Redis while they wait for a read slot, and end in time. */
export const withReadSlots = (store: Store, { release, endsAt }: RedisSlot): Store => {
  const releasing =
    (slot: Store['slots']['read']): Store['slots']['read'] =>
    (owner, work) => {
      release();
      return slot(owner, work, endsAt - RESPOND_BEFORE_MS);
    };
  return { ...store, slots: { read: releasing(store.slots.read), search: releasing(store.slots.search) } };
};
