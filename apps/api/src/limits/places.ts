import { YardmasterError } from '@yardmaster/protocol';
import { PerKey } from '@yardmaster/store';

/** How long each tenant is limited to half of the places after another one has last needed a place, milliseconds. */
const NEEDED_MS = 10_000;

export interface PlacesOptions {
  max: number;
  /** Share that is kept for urgent requests, of all places and of the half of a tenant, from 0 to 1. */
  reserved: number;
  /** Whether one tenant gets at most half of the places even while no other needs any. Default false. */
  isHalfAlways?: boolean;
  /** Where the number of places that are taken is kept. Default: here. */
  counter?: { inFlight: number };
}

/**
 * Places for requests that a process serves at once. One tenant may have all of them while it is alone. Once another tenant
 * finds none, each is limited to half, until for 10 s no tenant but the largest has asked for a place.
 */
export class Places {
  readonly #options: Required<PlacesOptions>;
  readonly #half: number;
  readonly #byTenant = new PerKey();
  /** The tenant that had half of the places last. Its requests do not show that others need places. */
  #large = '';
  /** Until when each tenant is limited to half, by `performance.now()`. */
  #neededUntil = 0;

  constructor(options: PlacesOptions) {
    this.#options = { isHalfAlways: false, counter: { inFlight: 0 }, ...options };
    this.#half = Math.ceil(options.max / 2);
  }

  /** Check that there is a place. @throws OVERLOADED */
  check(tenant: string, isUrgent: boolean): void {
    const { max, reserved, counter, isHalfAlways } = this.#options;
    const shareOf = (places: number) => places - (isUrgent ? 0 : Math.floor(places * reserved));
    if (counter.inFlight < shareOf(this.#half)) return;
    const now = performance.now();
    const isFull = counter.inFlight >= shareOf(max);
    const isLarge = this.#byTenant.get(tenant) >= shareOf(this.#half);
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
