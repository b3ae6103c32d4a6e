import type { ServerResponse } from 'node:http';
import { type KeyLimits, YardmasterError } from '@yardmaster/protocol';
import type { Principal } from '@yardmaster/store';

/** Buckets kept. The one that was used longest ago is dropped; a process serves fewer keys with limits than this. */
const CAPACITY = 10_000;

/** What a key has left: calls, and when that was so, by `performance.now()`. */
interface Bucket {
  calls: number;
  at: number;
}

/**
 * Counts the calls of each key that has limits, in this process. A key has a bucket of `burst` calls, which is refilled by
 * `perSecond`. Keys without limits cost one comparison.
 */
export class KeyLimiter {
  readonly #buckets = new Map<string, Bucket>();

  /**
   * Take a call from the bucket of a key, and set the headers that report what is left.
   *
   * @throws RATE_LIMITED when nothing is left; such a call takes nothing
   */
  take({ keyId, limits }: Pick<Principal, 'keyId' | 'limits'>, res: ServerResponse, now = performance.now()): void {
    if (limits === null) return;
    const { calls, at } = this.#buckets.get(keyId) ?? { calls: limits.burst, at: now };
    const filled = Math.min(limits.burst, calls + ((now - at) / 1_000) * limits.perSecond);
    const isAllowed = filled >= 1;
    const left = isAllowed ? filled - 1 : filled;
    this.#keep(keyId, { calls: left, at: now });
    for (const [name, value] of headersOf(limits, left)) res.setHeader(name, value);
    if (isAllowed) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((1 - filled) / limits.perSecond));
    throw new YardmasterError('RATE_LIMITED', undefined, {}, { retryAfterSeconds });
  }

  #keep(keyId: string, bucket: Bucket): void {
    this.#buckets.delete(keyId); // It goes to the end of the order.
    this.#buckets.set(keyId, bucket);
    if (this.#buckets.size > CAPACITY) this.#buckets.delete(this.#buckets.keys().next().value as string);
  }
}

/**
 * Return the headers for clients: the policy, and how many calls are left until the bucket is full again.
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
