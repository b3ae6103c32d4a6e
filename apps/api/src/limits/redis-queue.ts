import { within } from '@yardmaster/backend';
import { YardmasterError } from '@yardmaster/protocol';
import { type EqualTimeout, EqualTimeouts } from '@yardmaster/runtime';
import { FairQueue } from '@yardmaster/store';
import { AdaptiveLimit } from './adaptive-limit.js';

/** A request that waited so long is refused, and was not sent. */
const WAIT_MS = 500;

/** What a request knows that was sent. */
export interface Sent {
  /** When it is given up, as `performance.now()` tells the time. */
  endsAt: number;
  /** To be called before it waits for anything but Redis; the request then frees its place. */
  stopCounting(): void;
}

/** A request on its way to Redis. */
export interface ToRedis<T> {
  /** Whether it goes before all that is not: a job that runs must not time out because others are created. */
  isUrgent: boolean;
  /** Owners have their turns one after the other: id of the API key, or the address of a client whose key is not known yet. */
  owner: string;
  /** How long it may take in all, milliseconds. */
  withinMs: number;
  run(sent: Sent): Promise<T>;
}

interface Waiting {
  send(): void;
  timeout: EqualTimeout;
}

/**
 * Lets requests go to Redis, as many at once as it can serve soon; the others wait here, where what is urgent can pass
 * them, and not in Redis, where it cannot.
 */
export class RedisQueue {
  readonly #limit = new AdaptiveLimit();
  readonly #urgent = new FairQueue<Waiting>();
  readonly #others = new FairQueue<Waiting>();
  readonly #timeouts = new EqualTimeouts(WAIT_MS);
  readonly #leastMs: number;
  #underWay = 0;

  /** @param leastMs for how long Redis may carry out what it gets; with less time left a request is not sent */
  constructor(leastMs: number) {
    this.#leastMs = leastMs;
  }

  /** Requests at Redis. */
  get underWay(): number {
    return this.#underWay;
  }

  /** How many may be. */
  get limit(): number {
    return this.#limit.value;
  }

  /** Requests that wait for their turn. */
  get waiting(): number {
    return this.#urgent.size + this.#others.size;
  }

  /** @throws OVERLOADED when it was not sent in time; UNAVAILABLE when it took too long; what `run` throws */
  send<T>(request: ToRedis<T>): Promise<T> {
    const now = performance.now();
    if (this.#underWay < this.#limit.value) return this.#sendNow(request, now, request.withinMs);
    this.#limit.reached();
    const queue = request.isUrgent ? this.#urgent : this.#others;
    return new Promise((resolve, reject) => {
      const send = () => {
        const sentAt = performance.now();
        this.#sendNow(request, sentAt, request.withinMs - (sentAt - now)).then(resolve, reject);
      };
      const timeout = this.#timeouts.begin(() => {
        queue.drop(request.owner); // All wait equally long, so it is the oldest of its owner.
        reject(new YardmasterError('OVERLOADED'));
      });
      queue.push(request.owner, { send, timeout });
    });
  }

  #sendNow<T>({ run }: ToRedis<T>, sentAt: number, leftMs: number): Promise<T> {
    if (leftMs < this.#leastMs) return Promise.reject(new YardmasterError('OVERLOADED'));
    const others = this.#underWay++;
    let isCounted = true;
    const stopCounting = () => {
      if (!isCounted) return;
      isCounted = false;
      this.#underWay--;
      const now = performance.now();
      this.#limit.took(now - sentAt, now, others);
      this.#sendMore();
    };
    return within(leftMs, run({ endsAt: sentAt + leftMs, stopCounting }), stopCounting);
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
