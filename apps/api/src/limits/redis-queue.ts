import { within } from '@yardmaster/backend';
import { YardmasterError } from '@yardmaster/protocol';
import { type EqualTimeout, EqualTimeouts } from '@yardmaster/runtime';
import { FairQueue } from '@yardmaster/store';
import { AdaptiveLimit } from './adaptive-limit.js';

/** A request that waited so long is refused, and was not sent. */
const WAIT_MS = 500;

/** A request on its way to Redis. */
export interface ToRedis<T> {
  /** Whether it goes before all that is not: a job that runs must not time out because others are created. */
  isUrgent: boolean;
  /** Id of the API key. Keys have their turns one after the other. */
  keyId: string;
  /** How long it may take in all, milliseconds. */
  withinMs: number;
  /** @param leave to be called before it waits for something else than Redis: it counts no more as under way */
  run(leave: () => void): Promise<T>;
}

interface Waiting {
  begin(): void;
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
  #underWay = 0;

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

  /** @throws OVERLOADED when its turn did not come; UNAVAILABLE when it took too long; what `run` throws */
  send<T>(request: ToRedis<T>): Promise<T> {
    if (this.#underWay < this.#limit.value) return this.#begin(request);
    this.#limit.reached();
    const queue = request.isUrgent ? this.#urgent : this.#others;
    return new Promise((resolve, reject) => {
      const begin = () => this.#begin({ ...request, withinMs: request.withinMs - WAIT_MS }).then(resolve, reject);
      const timeout = this.#timeouts.begin(() => {
        queue.drop(request.keyId); // All wait equally long, so it is the oldest of its key.
        reject(new YardmasterError('OVERLOADED'));
      });
      queue.push(request.keyId, { begin, timeout });
    });
  }

  #begin<T>({ run, withinMs }: ToRedis<T>): Promise<T> {
    this.#underWay++;
    const beganAt = performance.now();
    let isUnderWay = true;
    const leave = () => {
      if (!isUnderWay) return;
      isUnderWay = false;
      this.#underWay--;
      const now = performance.now();
      this.#limit.took(now - beganAt, now);
      this.#beginMore();
    };
    return within(withinMs, run(leave), leave);
  }

  #beginMore(): void {
    while (this.#underWay < this.#limit.value) {
      const next = this.#urgent.shift() ?? this.#others.shift();
      if (next === undefined) return;
      next.item.timeout.clear();
      next.item.begin();
    }
  }
}
