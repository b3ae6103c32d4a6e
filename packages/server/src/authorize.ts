import type { IncomingMessage } from 'node:http';
import { type Scope, YardmasterError } from '@yardmaster/protocol';
import type { Authenticator, Principal } from '@yardmaster/store';
import { Counter, type Registry } from 'prom-client';

/** Dependencies of `authenticate`. */
export interface KeyCheck {
  authenticator: Authenticator;
  /** Count a request whose key is wrong. */
  reportRejectedKey(): void;
}

/** Return the API key of a request: the header `x-api-key`, or else a Bearer token; undefined without either. */
export function presentedKey({ headers }: IncomingMessage): unknown {
  return headers['x-api-key'] ?? /^bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1];
}

/**
 * Return the principal that an API key belongs to. A wrong key is counted, a missing one is not.
 *
 * @param presented what the request sends as its API key: see `presentedKey`; for streams the query parameter `token`
 * @throws UNAUTHENTICATED without a valid key; UNAVAILABLE when Redis does not reply
 * @see docs/api/requests.md#authentication
 */
export async function authenticate(
  { authenticator, reportRejectedKey }: KeyCheck,
  presented: unknown,
): Promise<Principal> {
  if (typeof presented !== 'string' || presented === '') throw new YardmasterError('UNAUTHENTICATED');
  const principal = await authenticator.authenticate(presented);
  if (principal !== null) return principal;
  reportRejectedKey();
  throw new YardmasterError('UNAUTHENTICATED');
}

/** Return the principal from the cache, without waiting; when it is undefined, `authenticate` decides. */
export function cachedPrincipal(authenticator: Authenticator, presented: unknown): Principal | undefined {
  return typeof presented === 'string' ? authenticator.cached(presented) : undefined;
}

/** Scopes of which a key needs one, or all of a list inside. */
export type AcceptedScopes = readonly [Scope | readonly Scope[], ...(Scope | readonly Scope[])[]];

/**
 * Refuse a key that has none of the accepted scopes, or that is bound to another space than the one in the path.
 * For a path that names a job, the store compares the job's space in the same step as everything else.
 *
 * @param spaceId '' for a path without a space
 * @throws FORBIDDEN
 */
export function authorize(principal: Principal, accepted: AcceptedScopes, spaceId = ''): void {
  if (!accepted.some((one) => isGranted(one, principal))) {
    const [first] = accepted;
    const missing = typeof first === 'string' ? first : first.find((scope) => !principal.grants.has(scope));
    // Clients of emit.run look for this sentence. Of several scopes it names the first.
    throw new YardmasterError('FORBIDDEN', `Missing required scope: ${missing}`);
  }
  if (spaceId !== '' && principal.spaceId !== null && principal.spaceId !== spaceId) {
    throw new YardmasterError('FORBIDDEN');
  }
}

const isGranted = (one: Scope | readonly Scope[], { grants }: Principal) =>
  typeof one === 'string' ? grants.has(one) : one.every((scope) => grants.has(scope));

/** Create a function that counts a request whose API key is wrong. The audit says where it came from. */
export function createRejectedKeyReport(registry: Registry) {
  const rejected = new Counter({
    name: 'yardmaster_rejected_keys_total',
    help: 'Calls and streams refused because their API key is unknown, revoked or expired, or has a wrong secret.',
    registers: [registry],
  });
  return (): void => rejected.inc();
}
