import { grantsOf, isJobId, STREAM_TOKEN_PREFIX, type StreamScope, YardmasterError } from '@yardmaster/protocol';
import { authenticate, authorize, type Denied, type KeyCheck } from '@yardmaster/server';
import { type Principal, partitionOfJob, type Store, type StreamGrant, tenantOf } from '@yardmaster/store';
import type { StreamRequest } from './stream-request.js';

/** The client that requests a stream, and how much of it the client may see. */
export interface StreamCaller {
  /** Id of the API key; null for an anonymous stream. */
  keyId: string | null;
  /** Tenant whose share of the gateway it uses, see tenantOf. */
  tenant: string;
  /** After how many rotations of the key its secret was made. */
  rotation: number;
  /** The space that the client is bound to; null for a key of every space, and for an anonymous stream. */
  spaceId: string | null;
  scope: StreamScope;
  /** How long the stream may be open, milliseconds: until its stream token expires. Infinity for an API key. */
  validMs: number;
  /** What its stream token lets it watch; null for an API key, and for an anonymous stream. */
  grant: StreamGrant | null;
}

export interface CallerRules extends KeyCheck {
  /** Return the time by Redis' clock, epoch milliseconds. */
  now(): Promise<number>;
  /** Whether a stream of a job of some space in its partition may be opened without a token. */
  mayBeAnonymous(jobId: string): boolean;
}

const NO_TOKEN = { grant: null, validMs: Number.POSITIVE_INFINITY };
/** Clients without a key are one tenant. Live streams, whose tenant is '', must not wait for them. */
const ANONYMOUS: StreamCaller = {
  keyId: null,
  tenant: 'without a key',
  rotation: 0,
  spaceId: null,
  scope: 'progress',
  ...NO_TOKEN,
};

/**
 * Identify the client that requests a stream.
 *
 * An empty token is refused, so that a page whose key is missing gets an error, and not a stream that shows less.
 *
 * @param access gets what is known of the client, also when it is refused
 * @throws UNAUTHENTICATED, FORBIDDEN, UNAVAILABLE
 * @see docs/api-keys.md#scopes
 */
export async function callerOf(
  { presented, subject }: StreamRequest,
  access: Denied,
  rules: CallerRules,
): Promise<StreamCaller> {
  if (presented === undefined && subject.kind === 'job' && rules.mayBeAnonymous(subject.jobId)) return ANONYMOUS;
  access.presented = presented;
  const { grant, validMs, ...principal } = await principalOf(presented, rules);
  access.caller = principal;
  if (subject.kind === 'job') authorize(principal, ['jobs:read:progress', 'jobs:read']);
  else authorize(principal, ['jobs:read'], subject.spaceId);
  if (grant?.jobIds && (subject.kind !== 'job' || !grant.jobIds.includes(subject.jobId))) throw otherStreams();
  const { keyId, rotation, spaceId, grants } = principal;
  const tenant = tenantOf(principal, subject.kind === 'space' ? subject.spaceId : '');
  return { keyId, tenant, rotation, spaceId, scope: grants.has('jobs:read') ? 'full' : 'progress', grant, validMs };
}

/** Return the refusal of a stream that a stream token does not name. */
export const otherStreams = () => new YardmasterError('FORBIDDEN', 'The stream token is for other streams');

/**
 * Return who presents an API key or a stream token. A token has at most the rights of the API key that made it.
 *
 * @throws UNAUTHENTICATED, UNAVAILABLE
 */
async function principalOf(
  presented: unknown,
  rules: CallerRules,
): Promise<Principal & Pick<StreamCaller, 'grant' | 'validMs'>> {
  if (typeof presented !== 'string' || !presented.startsWith(STREAM_TOKEN_PREFIX)) {
    return { ...(await authenticate(rules, presented)), ...NO_TOKEN };
  }
  const found = await rules.authenticator.ofStreamToken(presented);
  if (found === null) {
    rules.reportRejectedKey();
    throw new YardmasterError('UNAUTHENTICATED');
  }
  const { principal, grant } = found;
  const validMs = grant.expiresAt - (await rules.now());
  if (validMs <= 0) throw new YardmasterError('UNAUTHENTICATED', 'The stream token has expired');
  const grants = new Set([...grantsOf([grant.scope])].filter((scope) => principal.grants.has(scope)));
  return { ...principal, grants, spaceId: principal.spaceId ?? grant.spaceId, grant, validMs };
}

/** Decides whether job streams may be opened without a token. The setting of a space wins over that of the process. */
export interface AnonymousRule {
  /** Whether a job may be in a space that allows it, as far as its id says. */
  mayBeAnonymous(jobId: string): boolean;
  /** Whether a space allows it. */
  isAllowedIn(spaceId: string): boolean;
  /**
   * Return the error of a stream without a token that could not be prepared. Where the process allows none, a client
   * must not learn whether a job exists.
   */
  hidden(error: unknown): unknown;
}

/** @param ofProcess ANONYMOUS_STREAMS */
export function createAnonymousRule({ known: { spaces } }: Pick<Store, 'known'>, ofProcess: boolean): AnonymousRule {
  return {
    mayBeAnonymous: (jobId) =>
      ofProcess || (isJobId(jobId) && spaces.isOnIn(partitionOfJob(jobId), 'anonymousStreams')),
    isAllowedIn: (spaceId) => spaces.of(spaceId)?.anonymousStreams ?? ofProcess,
    hidden: (error) =>
      !ofProcess && error instanceof YardmasterError && error.code === 'JOB_NOT_FOUND'
        ? new YardmasterError('UNAUTHENTICATED')
        : error,
  };
}
