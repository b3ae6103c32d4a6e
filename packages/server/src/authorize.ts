import type { IncomingMessage } from 'node:http';
import { type Scope, YardmasterError } from '@yardmaster/protocol';
import type { Authenticator, Principal } from '@yardmaster/store';
import { Counter, type Registry } from 'prom-client';

/** Dependencies of `authenticate`. */
export interface KeyCheck {
  authenticator: Authenticator;
  /** Count a request with a wrong key. */
  reportRejectedKey(): void;
}

/** Return the API key of a request: the header `x-api-key`, or else a bearer token; undefined without either. */
export function presentedKey({ headers }: IncomingMessage): unknown {
  return headers['x-api-key'] ?? /^bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1];
}

/**
 * Return the principal that an API key belongs to. Wrong keys are counted, missing ones are not.
 *
 * @param presented what the request sent as its API key; see `presentedKey`. For streams, the query parameter `token`
 * @throws UNAUTHENTICATED without a valid key; UNAVAILABLE if Redis does not reply
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

/** Return the principal from the cache, without waiting; if it is undefined, call `authenticate`. */
export function cachedPrincipal(authenticator: Authenticator, presented: unknown): Principal | undefined {
  return typeof presented === 'string' ? authenticator.cached(presented) : undefined;
}

/** Alternatives of scopes: the key needs one of them, or all scopes of an inner list. */
export type AcceptedScopes = readonly [Scope | readonly Scope[], ...(Scope | readonly Scope[])[]];

/**
 * Refuse a key that lacks the scopes, or that is bound to a space other than the one in the path. If the path names a job,
 * the store checks the job's space in the same step as everything else.
 *
 * @param spaceId '' if the path has no space
 * @throws FORBIDDEN
 */
export function authorize(principal: Principal, accepted: AcceptedScopes, spaceId = ''): void {
  if (!accepted.some((one) => isGranted(one, principal))) {
    const [first] = accepted;
    const missing = typeof first === 'string' ? first : first.find((scope) => !principal.grants.has(scope));
    // Clients of emit.run match this message. Of several accepted scopes, it names the first.
    throw new YardmasterError('FORBIDDEN', `Missing required scope: ${missing}`);
  }
  if (spaceId !== '' && principal.spaceId !== null && principal.spaceId !== spaceId) {
    throw new YardmasterError('FORBIDDEN');
  }
}

const isGranted = (one: Scope | readonly Scope[], { grants }: Principal) =>
  typeof one === 'string' ? grants.has(one) : one.every((scope) => grants.has(scope));

/** Create a function that counts requests with a wrong API key. The audit tells where they came from. */
export function createRejectedKeyReport(registry: Registry) {
  const rejected = new Counter({
    name: 'yardmaster_rejected_keys_total',
    help: 'Calls and streams refused because of a wrong API key: unknown, revoked or expired, or with a wrong secret.',
    registers: [registry],
  });
  return (): void => rejected.inc();
}
