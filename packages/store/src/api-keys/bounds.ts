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

// Limits on what a key bound to a space may do with other keys: never more than it could do itself.

/** A request for a key. Absent limits mean none. */
export type NewKey = Omit<CreateKeyRequest, 'limits'> & Partial<Pick<CreateKeyRequest, 'limits'>>;

/**
 * Complete a request for a key with the bounds of its caller. Absent limits default to those of the caller. A caller bound to
 * a space can create keys only there, with scopes, an expiry and limits that do not exceed its own; an absent expiry
 * defaults to its own.
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
 * Refuse a caller bound to a space a secret of a key that may do more than the caller, or for longer.
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
 * Return the buckets that each call of a key takes from: its own, and those of the keys it descends from, so that a key
 * cannot make more calls by creating others. Its own bucket is omitted if it would never be the first to be empty.
 */
export function bucketsOf({ id, limits, shared = [] }: Pick<StoredKey, 'id' | 'limits' | 'shared'>): KeyBucket[] {
  const isOwnNeeded = limits !== undefined && shared.every((bucket) => exceeds(bucket, limits));
  return isOwnNeeded ? [...shared, { keyId: id, ...limits }] : [...shared];
}

/** Refuse a key whose calls would take from too many buckets. @throws INVALID_REQUEST */
export function checkBuckets(key: Parameters<typeof bucketsOf>[0]): void {
  if (bucketsOf(key).length <= LIMITS.keyBuckets) return;
  const message = `limits must be omitted, because ${LIMITS.keyBuckets} ancestors of this key already have limits`;
  throw invalidRequest([{ path: 'limits', message }]);
}

/**
 * Refuse a caller bound to a space access to a key of another space, or to one with a scope that the caller lacks.
 *
 * @throws FORBIDDEN
 */
export function checkMayAdminister(key: Pick<StoredKey, 'spaceId' | 'scopes'>, caller: Principal): void {
  if (caller.spaceId === null) return;
  if (key.spaceId !== caller.spaceId) throw new YardmasterError('FORBIDDEN');
  const missing: Scope | undefined = [...grantsOf(key.scopes)].find((scope) => !caller.grants.has(scope));
  if (missing !== undefined) throw new YardmasterError('FORBIDDEN', `Missing required scope: ${missing}`);
}
