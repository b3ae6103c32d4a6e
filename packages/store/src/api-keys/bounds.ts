import { type CreateKeyRequest, grantsOf, type KeyLimits, type Scope, YardmasterError } from '@yardmaster/protocol';
import type { Principal, StoredKey } from './secrets.js';

// What a key that is bound to a space may do with keys: nothing that it could not do itself.

/** A request for a key; absent limits are none. */
export type NewKey = Omit<CreateKeyRequest, 'limits'> & Partial<Pick<CreateKeyRequest, 'limits'>>;

/**
 * Return a request for a key as its caller may make it. A caller that is bound to a space creates keys only there, with
 * scopes, an expiry and limits that do not exceed its own; absent ones are those of the caller.
 *
 * @throws FORBIDDEN
 */
export function boundRequest(request: NewKey, caller: Principal): NewKey {
  if (caller.spaceId === null) return request;
  const { spaceId, expiresAt, limits } = caller;
  const bound = {
    ...request,
    spaceId: request.spaceId ?? spaceId,
    expiresAt: request.expiresAt ?? expiresAt,
    limits: request.limits ?? limits,
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
