import { expect } from '@jest/globals';
import { createResolver } from '../../apps/scheduler/src/callbacks/dns-lookup.js';
import { type PostOutcome, post } from '../../apps/scheduler/src/callbacks/http-post.js';
import { createAgents } from '../../apps/scheduler/src/callbacks/ssrf-guard.js';

/**
 * Make a function that posts once, as a scheduler does for an attempt at a callback.
 *
 * @param dnsServers default: the system's
 */
export function createPost({ allowPrivate, dnsServers }: { allowPrivate: boolean; dnsServers?: string[] }) {
  const agents = createAgents({ resolve: createResolver(dnsServers), allowPrivate });
  return (url: string): Promise<PostOutcome> => post({ url, headers: {}, body: Buffer.from('{}'), agents });
}

/** Build the outcome of an attempt that gets no status. */
export const noStatus = (fault: string, error: unknown) => ({ error, fault, isFinal: false });

/** Outcomes of attempts that get no status. */
export const CLOSED = noStatus('network', 'connection was closed before a response');
export const CONNECTION_REFUSED = noStatus('network', 'connection refused');
export const TIMED_OUT = noStatus('timeout', 'no response within 10 s');
export const UNKNOWN_HOST = noStatus('dns', 'host name does not resolve');
export const INVALID_HTTP = noStatus('http', expect.stringMatching(/^response is not valid HTTP \(HPE_[A-Z_]+\)$/));
export const NOT_PUBLIC = { error: 'address is not public', fault: 'refused', isFinal: true };
