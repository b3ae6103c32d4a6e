import type { IncomingMessage } from 'node:http';
import { type Scope, YardmasterError } from '@yardmaster/protocol';
import type { Authenticator, Principal } from '@yardmaster/store';

/** Dependencies of `authenticate`. */
export interface KeyCheck {
  authenticator: Authenticator;
  /** Count a request whose key is wrong, and warn about its client's address at most once a minute. */
  reportRejectedKey(req: IncomingMessage): void;
}

/**
 * Return the principal that an API key belongs to. A wrong key is counted, a missing one is not.
 *
 * @param presented text that the request sends as its API key: the header `x-api-key`, the query parameter `token`
 * @throws UNAUTHENTICATED without a valid key; UNAVAILABLE when Redis does not reply
 * @see spec §5.1, §5.2
 */
export async function authenticate(
  { authenticator, reportRejectedKey }: KeyCheck,
  req: IncomingMessage,
  presented: unknown,
): Promise<Principal> {
  if (typeof presented !== 'string' || presented === '') throw new YardmasterError('UNAUTHENTICATED');
  const principal = await authenticator.authenticate(presented);
  if (principal !== null) return principal;
  reportRejectedKey(req);
  throw new YardmasterError('UNAUTHENTICATED');
}

/** Return the principal from the cache, without waiting; when it is undefined, `authenticate` decides. */
export function cachedPrincipal(authenticator: Authenticator, presented: unknown): Principal | undefined {
  return typeof presented === 'string' ? authenticator.cached(presented) : undefined;
}

/**
 * Refuse a key that has none of the accepted scopes, or that is bound to another space than the one in the path.
 * For a path that names a job, the store compares the job's space in the same step as everything else.
 *
 * @throws FORBIDDEN
 */
export function authorize(principal: Principal, anyOf: readonly Scope[], spaceId?: string): void {
  if (!anyOf.some((scope) => principal.grants.has(scope))) {
    throw new YardmasterError('FORBIDDEN', `The API key lacks the scope ${anyOf.join(' or ')}`);
  }
  if (spaceId !== undefined && principal.spaceId !== null && principal.spaceId !== spaceId) {
    throw new YardmasterError('FORBIDDEN');
  }
}
