import { YardmasterError } from '@yardmaster/protocol';
import { PerKey } from '@yardmaster/store';

/** How long each tenant is limited to half of the places after another one last needed a place, milliseconds. */
const NEEDED_MS = 10_000;

export interface PlacesOptions {
  max: number;
  /** Share of all places, and of a tenant's half, reserved for urgent requests, from 0 to 1. */
  reserved: number;
  /** Whether a tenant gets at most half of the places even if no other tenant needs any. Default false. */
  isHalfAlways?: boolean;
  /** Holds the number of places taken. Default: an internal counter. */
  counter?: { inFlight: number };
}

/**
 * Limits the requests that a process serves at once. A tenant that is alone may take all places. Once another tenant finds
 * none, each tenant is limited to half, until only the largest one has needed a place for 10 seconds.
 */
export class Places {
  readonly #options: Required<PlacesOptions>;
  readonly #half: number;
  readonly #byTenant = new PerKey();
  /** The last tenant to hold half of the places. Its requests don't count as others needing places. */
  #large = '';
  /** Until when each tenant is limited to half, by `performance.now()`. */
  #neededUntil = 0;

  constructor(options: PlacesOptions) {
    this.#options = { isHalfAlways: false, counter: { inFlight: 0 }, ...options };
    this.#half = Math.ceil(options.max / 2);
  }

  /** Check that a place is free. @throws OVERLOADED */
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

  /** Take a place without a check. */
  take(tenant: string): void {
    this.#byTenant.add(tenant, 1);
    this.#options.counter.inFlight++;
  }

  /** Release a place. */
  leave(tenant: string): void {
    this.#byTenant.add(tenant, -1);
    this.#options.counter.inFlight--;
  }
}

/** The place of a request: one at a time, or none. */
export class Place {
  /** Tenant of the request, or the address of its client until the key is known. */
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

  /** Release the place: the request has ended, or waits without using this process. */
  leave(): void {
    if (this.#hasIt) this.#places?.leave(this.tenant);
    this.#hasIt = false;
  }

  /** Retake the place, even if all are taken: a call that has waited is not refused. */
  takeAgain(): void {
    this.#places?.take(this.tenant);
    this.#hasIt = true;
  }
}
