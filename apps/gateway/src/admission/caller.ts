import { grantsOf, isJobId, STREAM_TOKEN_PREFIX, type StreamScope, YardmasterError } from '@yardmaster/protocol';
import { authenticate, authorize, type Denied, type KeyCheck } from '@yardmaster/server';
import { type Principal, partitionOfJob, type Store, type StreamGrant, tenantOf } from '@yardmaster/store';
import type { StreamRequest } from './stream-request.js';

/** The client that requests a stream, and what it may see. */
export interface StreamCaller {
  /** ID of the API key; null for an anonymous stream. */
  keyId: string | null;
  /** Tenant whose share of the gateway it uses; see tenantOf. */
  tenant: string;
  /** Number of rotations of the key before its secret was generated. */
  rotation: number;
  /** Space that the client is bound to; null if its key isn't bound to one, and for an anonymous stream. */
  spaceId: string | null;
  scope: StreamScope;
  /** How long the stream may stay open, milliseconds: until its stream token expires. Infinity for an API key. */
  validMs: number;
  /** What the stream token allows; null for an API key, and for an anonymous stream. */
  grant: StreamGrant | null;
}

export interface CallerRules extends KeyCheck {
  /** Return the time by Redis's clock, epoch milliseconds. */
  now(): Promise<number>;
  /** Return whether some space in the job's partition allows job streams without a token. */
  mayBeAnonymous(jobId: string): boolean;
}

const NO_TOKEN = { grant: null, validMs: Number.POSITIVE_INFINITY };
/** Clients without a key share one tenant. Live streams, whose tenant is '', must not wait for them. */
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
 * An empty token is refused, so that a page whose token is missing gets an error instead of a stream that shows less.
 *
 * @param access receives what is known about the client, even if it is refused
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

/** Create the error for a stream that the stream token does not allow. */
export const otherStreams = () => new YardmasterError('FORBIDDEN', 'The stream token is for other streams');

/**
 * Return the principal of an API key or a stream token. A token has at most the rights of the API key that created it.
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

/** Decides whether job streams may be opened without a token. The setting of a space overrides that of the process. */
export interface AnonymousRule {
  /** Return whether a job may be in a space that allows it, judging by its ID. */
  mayBeAnonymous(jobId: string): boolean;
  /** Return whether a space allows it. */
  isAllowedIn(spaceId: string): boolean;
  /**
   * Convert the error of a stream without a token that could not be prepared. If the process doesn't allow such streams, a
   * client must not learn whether a job exists.
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
