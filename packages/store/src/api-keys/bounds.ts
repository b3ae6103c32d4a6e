import { grantsOf, type KeyLimits, type Scope, YardmasterError } from '@yardmaster/protocol';
import type { NewKey } from './api-keys.js';
import type { Principal, StoredKey } from './secrets.js';

// What a key that is bound to a space may do with keys: nothing that it could not do itself.

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
  checkMayAdminister(bound, caller);
  if (expiresAt !== null && Date.parse(bound.expiresAt as string) > Date.parse(expiresAt)) {
    throw new YardmasterError('FORBIDDEN', 'The new key would expire after the API key that creates it');
  }
  if (limits !== null && exceeds(bound.limits as KeyLimits, limits)) {
    throw new YardmasterError('FORBIDDEN', 'The limits of the new key exceed those of the API key that creates it');
  }
  return bound;
}

const exceeds = (limits: KeyLimits, most: KeyLimits) => limits.perSecond > most.perSecond || limits.burst > most.burst;

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
