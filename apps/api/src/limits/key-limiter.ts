import type { ServerResponse } from 'node:http';
import { type KeyLimits, YardmasterError } from '@yardmaster/protocol';
import type { KeyBucket, Principal } from '@yardmaster/store';

/** Buckets to keep. Beyond that, the least recently used one is dropped, and its key restarts with a full one. */
const MAX_BUCKETS = 10_000;

/** Calls left in a bucket at a point in time, by `performance.now()`. */
interface Bucket {
  calls: number;
  at: number;
}

/**
 * Limits the call rate of keys in this process. Each limited key has a token bucket of `burst` calls that refills at
 * `perSecond`; calls of the keys that it created draw from it as well. Keys without limits cost one comparison.
 */
export class KeyLimiter {
  readonly #buckets = new Map<string, Bucket>();

  /**
   * Take one call from each bucket of a key, and set headers that report what is left in the emptiest one.
   *
   * @throws RATE_LIMITED if a bucket is empty; the call then takes nothing
   */
  take({ buckets }: Pick<Principal, 'buckets'>, res: ServerResponse, now = performance.now()): void {
    if (buckets.length === 0) return;
    const filled = buckets.map((bucket) => ({ ...bucket, calls: this.#callsIn(bucket, now) }));
    const waitSeconds = Math.max(...filled.map(({ calls, perSecond }) => (1 - calls) / perSecond));
    const taken = waitSeconds > 0 ? 0 : 1;
    for (const { keyId, calls } of filled) this.#keep(keyId, { calls: calls - taken, at: now });
    const emptiest = filled.reduce((a, b) => (b.calls < a.calls ? b : a));
    for (const [name, value] of headersOf(emptiest, emptiest.calls - taken)) res.setHeader(name, value);
    if (taken === 1) return;
    const retryAfterSeconds = Math.max(1, Math.ceil(waitSeconds));
    throw new YardmasterError('RATE_LIMITED', undefined, {}, { retryAfterSeconds });
  }

  /** Return the number of calls left in a bucket. */
  #callsIn({ keyId, perSecond, burst }: KeyBucket, now: number): number {
    const { calls, at } = this.#buckets.get(keyId) ?? { calls: burst, at: now };
    return Math.min(burst, calls + ((now - at) / 1_000) * perSecond);
  }

  #keep(keyId: string, bucket: Bucket): void {
    this.#buckets.delete(keyId); // Moves the bucket to the end of the order.
    this.#buckets.set(keyId, bucket);
    if (this.#buckets.size > MAX_BUCKETS) this.#buckets.delete(this.#buckets.keys().next().value as string);
  }
}

/**
 * Return the rate limit headers: the policy, the calls left, and the seconds until the bucket is full again.
 *
 * @see draft-ietf-httpapi-ratelimit-headers-11
 */
function headersOf({ perSecond, burst }: KeyLimits, left: number): [name: string, value: string][] {
  const secondsFor = (calls: number) => Math.ceil(calls / perSecond);
  return [
    ['ratelimit-policy', `"key";q=${burst};w=${secondsFor(burst)}`],
    ['ratelimit', `"key";r=${Math.floor(left)};t=${secondsFor(burst - left)}`],
  ];
}
