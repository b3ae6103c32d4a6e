import { YardmasterError } from '@yardmaster/protocol';
import { type QueuedTimeout, TimeoutQueue } from '@yardmaster/redis';
import { rejectAfter } from '@yardmaster/server';
import { FairQueue, PerKey, type Store } from '@yardmaster/store';

/** How long a request may wait; then it is refused without having been sent, milliseconds. */
const WAIT_MS = 500;

/** Urgent requests that go in a row while others wait: a tenant whose workers report without end must not stop the others. */
const URGENT_TURNS = 3;

/** How long several tenants count as using Redis after the last change from one to another, milliseconds. */
const SHARED_MS = 10_000;

/** Return the tenant of a client whose key is not known yet. */
export const tenantAt = (address: string): string => `@${address}`;

/** Whether a tenant is one for sure: not a client whose key is not known yet, nor the service itself. */
const isCertain = (tenant: string) => tenant !== '' && !tenant.startsWith('@');

/** Slot of a request at Redis. */
export interface RedisSlot {
  /** When the request ends as UNAVAILABLE, by `performance.now()`. */
  endsAt: number;
  /** Release the slot; to be called before the request waits for anything except Redis. */
  release(): void;
}

/** A request on its way to Redis. */
export interface RedisRequest<T> {
  /** Whether it goes before those that are not urgent: a running job must not time out because others are created. */
  isUrgent: boolean;
  /** Tenants share the slots fairly, see tenantOf and tenantAt; '' for the service itself. */
  tenant: string;
  /** Its work, see units.ts. Default 1. */
  units?: number;
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
 *
 * While several tenants use Redis, the limit is one of units of work and not of requests, and one tenant gets at most half
 * of it, so that none waits long behind the large requests of another.
 */
export class RedisQueue {
  readonly #limit = new AdaptiveLimit();
  readonly #urgent = new FairQueue<Waiting>();
  readonly #others = new FairQueue<Waiting>();
  readonly #timeouts = new TimeoutQueue(WAIT_MS);
  readonly #leastMs: number;
  #underWay = 0;
  /** Units at Redis, of which a request counts at most half of the limit at that time, so that one does not stop others. */
  #units = 0;
  readonly #unitsByTenant = new PerKey();
  #lastTenant = '';
  #sharedUntil = 0;
  /** Turns since the others went first. */
  #urgentTurns = 0;

  /** @param leastMs how long Redis may take to carry out a request; with less time left, a request is not sent */
  constructor(leastMs: number) {
    this.#leastMs = leastMs;
  }

  /** Number of requests at Redis. */
  get underWay(): number {
    return this.#underWay;
  }

  /** How many requests may be at Redis, or units of them. */
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
    if (request.tenant !== this.#lastTenant && isCertain(request.tenant)) {
      if (this.#lastTenant !== '') this.#sharedUntil = now + SHARED_MS;
      this.#lastTenant = request.tenant;
    }
    if (this.#hasRoom(now) && !(this.#isShared(now) && this.#hasHalf(request.tenant)))
      return this.#sendNow(request, now, request.withinMs);
    this.#limit.recordReached();
    const queue = request.isUrgent ? this.#urgent : this.#others;
    return new Promise((resolve, reject) => {
      const send = () => {
        const sentAt = performance.now();
        this.#sendNow(request, sentAt, request.withinMs - (sentAt - now)).then(resolve, reject);
      };
      const timeout = this.#timeouts.begin(() => {
        // All requests wait equally long, so this is the oldest of its tenant.
        queue.drop(request.tenant);
        reject(new YardmasterError('OVERLOADED'));
      });
      queue.push(request.tenant, { send, timeout }, request.units);
    });
  }

  /** Charge a tenant for units that were known only once its request was carried out. */
  charge(tenant: string, units: number): void {
    this.#others.charge(tenant, units);
  }

  #isShared(now: number): boolean {
    return now < this.#sharedUntil;
  }

  #hasRoom(now: number): boolean {
    return (this.#isShared(now) ? this.#units : this.#underWay) < this.#limit.value;
  }

  #hasHalf = (tenant: string): boolean => this.#unitsByTenant.get(tenant) >= this.#limit.value / 2;

  #sendNow<T>({ run, tenant, units = 1 }: RedisRequest<T>, sentAt: number, leftMs: number): Promise<T> {
    if (leftMs < this.#leastMs) return Promise.reject(new YardmasterError('OVERLOADED'));
    const others = this.#underWay++;
    const counted = Math.min(units, this.#limit.value / 2);
    this.#units += counted;
    this.#unitsByTenant.add(tenant, counted);
    let isReleased = false;
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      this.#underWay--;
      this.#units -= counted;
      this.#unitsByTenant.add(tenant, -counted);
      const now = performance.now();
      this.#limit.record(now - sentAt, now, others);
      this.#sendMore(now);
    };
    try {
      return rejectAfter(leftMs, run({ endsAt: sentAt + leftMs, release }), release);
    } catch (error) {
      release(); // `run` may refuse a request before it is sent.
      return Promise.reject(error);
    }
  }

  #sendMore(now: number): void {
    while (this.#hasRoom(now)) {
      const next = this.#next(this.#isShared(now) ? this.#hasHalf : undefined);
      if (next === undefined) return;
      next.item.timeout.clear();
      next.item.send();
    }
  }

  /** Take the next request: as a rule, one that is urgent first. */
  #next(isBlocked?: (tenant: string) => boolean): ReturnType<FairQueue<Waiting>['shift']> {
    const isOthersTurn = this.#urgentTurns === URGENT_TURNS;
    const [first, second] = isOthersTurn ? [this.#others, this.#urgent] : [this.#urgent, this.#others];
    const next = first.shift(undefined, isBlocked) ?? second.shift(undefined, isBlocked);
    this.#urgentTurns = isOthersTurn || this.#others.size === 0 ? 0 : this.#urgentTurns + 1;
    return next;
  }
}

/** How many milliseconds before the limit a long read ends as OVERLOADED, so that it does not end as UNAVAILABLE. */
const RESPOND_BEFORE_MS = 200;

/** Return a store whose long reads release their slot at Redis while they wait for a read slot, and end in time. */
export const withReadSlots = (store: Store, { release, endsAt }: RedisSlot): Store => {
  const releasing =
    (slot: Store['slots']['read']): Store['slots']['read'] =>
    (tenant, work) => {
      release();
      return slot(tenant, work, endsAt - RESPOND_BEFORE_MS);
    };
  return { ...store, slots: { read: releasing(store.slots.read), search: releasing(store.slots.search) } };
};

/**
 * Requests at Redis at once, or units of them: the first limit, and the bounds of the limit. With 128, a Redis at a distance
 * of 100 ms serves 1,280 a second. 8 requests are some ms of work, so that an urgent request does not wait long behind
 * them. With 1,000, the same Redis serves 10,000 a second.
 */
const FIRST = 128;
const LEAST = 8;
const MOST = 1_000;

/** Time between two changes of the limit. */
const WINDOW_MS = 250;

/**
 * A request is slow when it takes so much longer than the quickest of the last 30 to 60 s, because it waited in Redis.
 * A Redis with a CPU limit pauses for the rest of each 100 ms. A request that waits for two such pauses is not slow.
 */
const SLOW_MS = 250;

/** Factors of the limit: when most requests are slow, and when few are slow and the limit was reached. */
const LESS = 0.8;
const MORE = 1.2;

/**
 * Limits how many requests may be at Redis at once, by how long they take. The limit keeps Redis busy, but an urgent
 * request does not wait long behind the others.
 */
export class AdaptiveLimit {
  #value = FIRST;
  #measured = 0;
  #slow = 0;
  #wasReached = false;
  #windowEndsAt = 0;
  readonly #quickest = new Quickest();

  get value(): number {
    return this.#value;
  }

  /** Record that a request had to wait because the limit was reached. */
  recordReached(): void {
    this.#wasReached = true;
  }

  /**
   * Record how many milliseconds a request took.
   *
   * @param now time by `performance.now()`
   * @param others how many requests were under way when it was sent
   */
  record(ms: number, now: number, others: number): void {
    // With so few others it did not wait in Redis, so its time is the current round trip.
    if (others < LEAST) this.#quickest.reset(ms);
    this.#quickest.record(ms, now);
    this.#measured++;
    if (ms > this.#quickest.ms + SLOW_MS) this.#slow++;
    if (now >= this.#windowEndsAt) this.#change(now);
  }

  #change(now: number): void {
    if (this.#slow * 2 > this.#measured) this.#value = Math.max(LEAST, Math.floor(this.#value * LESS));
    else if (this.#wasReached) this.#value = Math.min(MOST, Math.ceil(this.#value * MORE));
    this.#measured = this.#slow = 0;
    this.#wasReached = false;
    this.#windowEndsAt = now + WINDOW_MS;
  }
}

/** How long a time counts at least, milliseconds; it counts up to twice as long. */
const COUNTS_MS = 30_000;

/** The shortest of the times that were recorded in the last 30 to 60 s. */
export class Quickest {
  #ms = Number.POSITIVE_INFINITY;
  #before = Number.POSITIVE_INFINITY;
  #since = 0;

  /** Milliseconds; 0 before the first. */
  get ms(): number {
    const ms = Math.min(this.#ms, this.#before);
    return Number.isFinite(ms) ? ms : 0;
  }

  /** @param now time by `performance.now()` */
  record(ms: number, now: number): void {
    if (now - this.#since > COUNTS_MS) {
      this.#before = this.#ms;
      this.#ms = ms;
      this.#since = now;
    }
    this.#ms = Math.min(this.#ms, ms);
  }

  /** Forget longer times: this one is the shortest that is possible now. */
  reset(ms: number): void {
    this.#ms = this.#before = ms;
  }
}
