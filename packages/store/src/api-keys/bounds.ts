import {
  type CreateKeyRequest,
  grantsOf,
  invalidRequest,
  type KeyLimits,
  LIMITS,
  type Scope,
  YardmasterError,
} from '@yardmaster/protocol';
import type { KeyBucket, Principal, StoredKey } from './secrets.js';

// What a key that is bound to a space may do with keys: nothing that it could not do itself.

/** A request for a key; absent limits are none. */
export type NewKey = Omit<CreateKeyRequest, 'limits'> & Partial<Pick<CreateKeyRequest, 'limits'>>;

/**
 * Return a request for a key as its caller may make it. Absent limits are those of the caller. A caller that is bound to a
 * space creates keys only there, with scopes, an expiry and limits that do not exceed its own; an absent expiry is its own.
 *
 * @throws FORBIDDEN
 */
export function boundRequest(request: NewKey, caller: Principal): NewKey {
  const limited = { ...request, limits: request.limits ?? caller.limits };
  if (caller.spaceId === null) return limited;
  const { spaceId, expiresAt } = caller;
  const bound = {
    ...limited,
    spaceId: request.spaceId ?? spaceId,
    expiresAt: request.expiresAt ?? expiresAt,
  };
  checkMayHold(bound, caller);
  return bound;
}

/**
 * Refuse a caller that is bound to a space to get a secret of a key that may do more than the caller, or for longer.
 *
 * @throws FORBIDDEN
 */
export function checkMayHold(
  key: Pick<StoredKey, 'spaceId' | 'scopes' | 'expiresAt'> & { limits?: KeyLimits | null | undefined },
  caller: Principal,
): void {
  if (caller.spaceId === null) return;
  checkMayAdminister(key, caller);
  if (timeOf(key.expiresAt) > timeOf(caller.expiresAt)) {
    throw new YardmasterError('FORBIDDEN', 'The key must not expire after the API key of the caller');
  }
  if (caller.limits !== null && exceeds(key.limits ?? NO_LIMITS, caller.limits)) {
    throw new YardmasterError('FORBIDDEN', 'The limits of the key must not exceed those of the API key of the caller');
  }
}

const NO_LIMITS = { perSecond: Number.POSITIVE_INFINITY, burst: Number.POSITIVE_INFINITY };
const exceeds = (limits: KeyLimits, most: KeyLimits) => limits.perSecond > most.perSecond || limits.burst > most.burst;
const timeOf = (expiresAt: string | null) => (expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt));

/**
 * Return the buckets from which each call of a key takes: those of the keys before it, so that a key gets no more calls by
 * making others, and its own. Its own is left out if it would never be the first to be empty.
 */
export function bucketsOf({ id, limits, shared = [] }: Pick<StoredKey, 'id' | 'limits' | 'shared'>): KeyBucket[] {
  const isOwnNeeded = limits !== undefined && shared.every((bucket) => exceeds(bucket, limits));
  return isOwnNeeded ? [...shared, { keyId: id, ...limits }] : [...shared];
}

/** Refuse a key whose calls would take from too many buckets. @throws INVALID_REQUEST */
export function checkBuckets(key: Parameters<typeof bucketsOf>[0]): void {
  if (bucketsOf(key).length <= LIMITS.keyBuckets) return;
  const message = `limits must be left out, because ${LIMITS.keyBuckets} keys before this one have limits of their own`;
  throw invalidRequest([{ path: 'limits', message }]);
}

/**
 * Refuse a caller that is bound to a space for a key of another space, and for one with a scope that the caller lacks.
 *
 * @throws FORBIDDEN
 */
export function checkMayAdminister(key: Pick<StoredKey, 'spaceId' | 'scopes'>, caller: Principal): void {
  if (caller.spaceId === null) return;
  if (key.spaceId !== caller.spaceId) throw new YardmasterError('FORBIDDEN');
  const missing: Scope | undefined = [...grantsOf(key.scopes)].find((scope) => !caller.grants.has(scope));
  if (missing !== undefined) throw new YardmasterError('FORBIDDEN', `Missing required scope: ${missing}`);
}
