import type { IncomingMessage } from 'node:http';
import { type StreamScope, YardmasterError } from '@yardmaster/protocol';
import { authenticate, authorize, type KeyCheck } from '@yardmaster/server';
import type { StreamUrl } from './stream-url.js';

/** The client that requests a stream, and how much of it the client may see. */
export interface StreamCaller {
  /** Id of the API key; null for an anonymous stream. */
  keyId: string | null;
  /** The space that the key is bound to; null for a key of every space, and for an anonymous stream. */
  spaceId: string | null;
  scope: StreamScope;
}

export interface CallerRules extends KeyCheck {
  /** Whether a job stream may be opened without a token. */
  anonymousStreams: boolean;
}

/**
 * Identify the client that requests a stream, by its token alone.
 *
 * An empty token is refused, so that a page whose key is missing gets an error, and not a stream that shows less.
 *
 * @throws INVALID_REQUEST, UNAUTHENTICATED, FORBIDDEN, UNAVAILABLE
 * @see spec §5.2 to §5.4, §5.6
 */
export async function callerOf(
  req: IncomingMessage,
  { subject, tokens }: StreamUrl,
  rules: CallerRules,
): Promise<StreamCaller> {
  const [token, ...more] = tokens;
  if (more.length > 0) throw new YardmasterError('INVALID_REQUEST', 'token must appear exactly once');
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
