import type { IncomingMessage } from 'node:http';
import { type Scope, YardmasterError } from '@yardmaster/protocol';
import type { KeyRing, Principal } from '@yardmaster/store';

/** What `authenticate` works with. */
export interface KeyCheck {
  keyRing: KeyRing;
  /** Count a request whose key is wrong, and warn of its client's address, once a minute. */
  reportRejectedKey(req: IncomingMessage): void;
}

/**
 * Tell who is calling. A wrong key is counted, unlike none.
 *
 * @param presented what stands where an API key belongs: the header `x-api-key`, the query parameter `token`
 * @throws UNAUTHENTICATED without a valid key; UNAVAILABLE when Redis cannot tell
 * @see spec §5.1, §5.2
 */
export async function authenticate(
  { keyRing, reportRejectedKey }: KeyCheck,
  req: IncomingMessage,
  presented: unknown,
): Promise<Principal> {
  if (typeof presented !== 'string' || presented === '') throw new YardmasterError('UNAUTHENTICATED');
  const principal = await keyRing.find(presented);
  if (principal !== null) return principal;
  reportRejectedKey(req);
  throw new YardmasterError('UNAUTHENTICATED');
}

/** The same without waiting, when it was found a moment ago; else undefined, and `authenticate` tells. */
export function knownCaller(keyRing: KeyRing, presented: unknown): Principal | undefined {
  return typeof presented === 'string' ? keyRing.known(presented) : undefined;
}

/**
 * Refuse a key that holds none of the scopes that would do, or that is bound to another space than the one in
 * the path. For a path that names a job, the store compares the job's space in the same step as the rest.
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
