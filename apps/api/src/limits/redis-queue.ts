import { YardmasterError } from '@yardmaster/protocol';
import { type QueuedTimeout, TimeoutQueue } from '@yardmaster/redis';
import { rejectAfter } from '@yardmaster/server';
import { FairQueue, PerKey, type Store } from '@yardmaster/store';

/** How long a request may wait before it is refused unsent, milliseconds. */
const WAIT_MS = 500;

/** Urgent requests sent in a row while others wait, so that a tenant with a flood of worker calls can't block the others. */
const URGENT_TURNS = 3;

/** How long Redis counts as shared after the last switch between tenants, milliseconds. */
const SHARED_MS = 10_000;

/** Return the tenant of a client whose key is not known yet. */
export const tenantAt = (address: string): string => `@${address}`;

/** Return whether a tenant is known: neither a client whose key is not known yet, nor the service itself. */
const isCertain = (tenant: string) => tenant !== '' && !tenant.startsWith('@');

/** Permission for a request to use Redis. */
export interface RedisSlot {
  /** When the request ends as UNAVAILABLE, by `performance.now()`. */
  endsAt: number;
  /** Release the slot. Call it before the request waits for anything except Redis. */
  release(): void;
}

/** A request on its way to Redis. */
export interface RedisRequest<T> {
  /** Whether it goes before non-urgent ones: a running job must not time out because of a flood of creates. */
  isUrgent: boolean;
  /** Tenant, because tenants share the slots fairly; see tenantOf and tenantAt. '' for the service itself. */
  tenant: string;
  /** Amount of work; see units.ts. Default 1. */
  units?: number;
  /** Maximum total duration, milliseconds. */
  withinMs: number;
  run(slot: RedisSlot): Promise<T>;
}

interface Waiting {
  send(): void;
  timeout: QueuedTimeout;
}

/**
 * Semaphore for requests to Redis, with a fair queue. It admits as many requests as Redis can serve soon. The others wait
 * here, where urgent requests can overtake them, unlike in Redis.
 *
 * While several tenants use Redis, the limit applies to units of work instead of requests, and a tenant gets at most half
 * of it, so that nobody waits long behind the large requests of another tenant.
 */
export class RedisQueue {
  readonly #limit = new AdaptiveLimit();
  readonly #urgent = new FairQueue<Waiting>();
  readonly #others = new FairQueue<Waiting>();
  readonly #timeouts = new TimeoutQueue(WAIT_MS);
  readonly #leastMs: number;
  #underWay = 0;
  /** Units in Redis. A request counts as at most half of the limit, so that a single one doesn't block others. */
  #units = 0;
  readonly #unitsByTenant = new PerKey();
  #lastTenant = '';
  #sharedUntil = 0;
  /** Turns since non-urgent requests went first. */
  #urgentTurns = 0;

  /** @param leastMs how long Redis may take for a request; with less time left, a request is not sent */
  constructor(leastMs: number) {
    this.#leastMs = leastMs;
  }

  /** Number of requests in Redis. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Maximum number of requests in Redis, or of their units. */
  get limit(): number {
    return this.#limit.value;
  }

  /** Number of requests waiting for a slot. */
  get waiting(): number {
    return this.#urgent.size + this.#others.size;
  }

  /** Run a request in a slot. @throws OVERLOADED if not sent in time; UNAVAILABLE if it took too long; any error of `run` */
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
        // All requests have the same timeout, so this is the oldest of its tenant.
        queue.drop(request.tenant);
        reject(new YardmasterError('OVERLOADED'));
      });
      queue.push(request.tenant, { send, timeout }, request.units);
    });
  }

  /** Charge a tenant for units that became known only after its request was carried out. */
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

  /** Take the next request, usually an urgent one. */
  #next(isBlocked?: (tenant: string) => boolean): ReturnType<FairQueue<Waiting>['shift']> {
    const isOthersTurn = this.#urgentTurns === URGENT_TURNS;
    const [first, second] = isOthersTurn ? [this.#others, this.#urgent] : [this.#urgent, this.#others];
    const next = first.shift(undefined, isBlocked) ?? second.shift(undefined, isBlocked);
    this.#urgentTurns = isOthersTurn || this.#others.size === 0 ? 0 : this.#urgentTurns + 1;
    return next;
  }
}

/** How many milliseconds before its deadline a long read ends as OVERLOADED, so that it doesn't end as UNAVAILABLE. */
const RESPOND_BEFORE_MS = 200;

/** Return a store whose long reads release their Redis slot while they wait for a read slot, and end in time. */
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
 * Initial, minimum and maximum limit of requests in Redis, or of their units. With 128, a Redis that is 100 ms away serves
 * 1,280 requests a second; with 1,000, it serves 10,000. 8 requests are a few milliseconds of work, so that an urgent
 * request doesn't wait long behind them.
 */
const FIRST = 128;
const LEAST = 8;
const MOST = 1_000;

/** Time between two changes of the limit. */
const WINDOW_MS = 250;

/**
 * A request that takes this much longer than the fastest of the last 30 to 60 seconds has waited in Redis, and counts as
 * slow. A Redis with a CPU limit is paused for the rest of each 100 ms; waiting for two such pauses does not count as slow.
 */
const SLOW_MS = 250;

/** Factors applied to the limit: if most requests are slow, and if few are slow and the limit was reached. */
const LESS = 0.8;
const MORE = 1.2;

/**
 * Limits the requests in Redis by how long they take: enough to keep Redis busy, but so few that an urgent request doesn't
 * wait long behind the others.
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
   * @param others number of requests in flight when it was sent
   */
  record(ms: number, now: number, others: number): void {
    // With so few others it did not wait in Redis, so its duration is the current round-trip time.
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

/** Minimum time that a recorded duration counts, milliseconds; it counts for up to twice as long. */
const COUNTS_MS = 30_000;

/** The shortest duration recorded in the last 30 to 60 seconds. */
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

  /** Forget all other durations: this is the shortest possible one now. */
  reset(ms: number): void {
    this.#ms = this.#before = ms;
  }
}
