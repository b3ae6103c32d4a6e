import { YardmasterError } from '@yardmaster/protocol';
import { PerKey } from '@yardmaster/store';

/** How long others count as needing places after one of them was refused or came, milliseconds. */
const NEEDED_MS = 10_000;

export interface PlacesOptions {
  max: number;
  /** Share of the places that is kept for urgent requests, from 0 to 1. */
  reserved: number;
  /** Whether one tenant gets at most half of the places even while no other needs any. Default false. */
  isHalfAlways?: boolean;
  /** Where the number of places that are taken is kept. Default: here. */
  counter?: { inFlight: number };
}

/**
 * Places for requests that a process serves at once. A tenant alone may have all of them. Once another tenant was refused,
 * no tenant gets more than half, until the others have not come for 10 s.
 */
export class Places {
  readonly #options: Required<PlacesOptions>;
  readonly #half: number;
  readonly #byTenant = new PerKey();
  /** The tenant that had half of the places last. Its requests do not show that others need places. */
  #large = '';
  /** Until when others count as needing places, by `performance.now()`. */
  #neededUntil = 0;

  constructor(options: PlacesOptions) {
    this.#options = { isHalfAlways: false, counter: { inFlight: 0 }, ...options };
    this.#half = Math.ceil(options.max / 2);
  }

  /** Check that there is a place. @throws OVERLOADED */
  check(tenant: string, isUrgent: boolean): void {
    const { max, reserved, counter, isHalfAlways } = this.#options;
    if (counter.inFlight < this.#half) return;
    const now = performance.now();
    const isFull = counter.inFlight >= (isUrgent ? max : max - Math.floor(max * reserved));
    const isLarge = this.#byTenant.get(tenant) >= this.#half;
    if (isLarge) this.#large = tenant;
    else if (isFull || (now < this.#neededUntil && tenant !== this.#large)) this.#neededUntil = now + NEEDED_MS;
    if (isFull || (isLarge && (isHalfAlways || now < this.#neededUntil))) throw new YardmasterError('OVERLOADED');
  }

  /** Take a place, without a check. */
  take(tenant: string): void {
    this.#byTenant.add(tenant, 1);
    this.#options.counter.inFlight++;
  }

  /** Give a place back. */
  leave(tenant: string): void {
    this.#byTenant.add(tenant, -1);
    this.#options.counter.inFlight--;
  }
}

/** The place that a request has: one at a time, or none. */
export class Place {
  /** Tenant of the request, or the address of a client whose key is not known yet. */
  tenant = '';
  #places: Places | null = null;
  #hasIt = false;

  /** Move to one of these places. @throws OVERLOADED; the request then has no place */
  moveTo(places: Places, tenant: string, isUrgent: boolean): void {
    this.leave();
    places.check(tenant, isUrgent);
    this.#places = places;
    this.tenant = tenant;
    this.takeAgain();
  }

  /** Leave the place: the request has ended, or it waits for something that is no work of this process. */
  leave(): void {
    if (this.#hasIt) this.#places?.leave(this.tenant);
    this.#hasIt = false;
  }

  /** Take the place again, even if there are too many by now: a call that has waited is not refused. */
  takeAgain(): void {
    this.#places?.take(this.tenant);
    this.#hasIt = true;
  }
}
