import type { IncomingMessage } from 'node:http';
import { authenticate, authorize, type KeyCheck } from '@yardmaster/backend';
import { type StreamScope, YardmasterError } from '@yardmaster/protocol';
import type { StreamUrl } from './path.js';

/** Who asks for a stream, and how much of it they may see. */
export interface StreamCaller {
  /** Id of the API key; null for an anonymous stream. */
  keyId: string | null;
  /** The one space the key works in; null for every space, and for nobody in particular. */
  spaceId: string | null;
  scope: StreamScope;
}

export interface CallerRules extends KeyCheck {
  /** Whether a job stream may be had without a token. */
  anonymousStreams: boolean;
}

/**
 * Tell who asks for a stream, from its token alone.
 *
 * An empty token is a bad one: a page whose key is missing should hear of it, and not get a little less.
 *
 * @throws UNAUTHENTICATED, FORBIDDEN, UNAVAILABLE
 * @see spec §5.2 to §5.4, §5.6
 */
export async function callerOf(
  req: IncomingMessage,
  { subject, tokens }: StreamUrl,
  rules: CallerRules,
): Promise<StreamCaller> {
  const [token, ...more] = tokens;
  if (more.length > 0) throw new YardmasterError('INVALID_REQUEST', 'token must be there once');
  if (token === undefined) {
    if (subject.kind === 'job' && rules.anonymousStreams) return { keyId: null, spaceId: null, scope: 'progress' };
    throw new YardmasterError('UNAUTHENTICATED');
  }
  const principal = await authenticate(rules, req, token);
  if (subject.kind === 'job') authorize(principal, ['jobs:read:progress', 'jobs:read']);
  else authorize(principal, ['jobs:read'], subject.spaceId);
  const { keyId, spaceId, grants } = principal;
  return { keyId, spaceId, scope: grants.has('jobs:read') ? 'full' : 'progress' };
}
