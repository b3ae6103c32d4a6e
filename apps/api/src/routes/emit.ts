import type { IncomingHttpHeaders } from 'node:http';
import { type CreateJobRequest, TERMINAL_STATUSES } from '@yardmaster/protocol';
import type { Call } from '../call.js';

// What a create does with COMPAT=emit, for clients of emit.run.

/** A host as URLs have it: a name or an address, and a port. Node accepts other texts as well. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i;

/** Return a job with the URL of its stream, if the mode is COMPAT=emit. */
export const withStreamUrl = <J extends { id: string }>({ deps, req }: Call, job: J): J =>
  deps.isEmit ? { ...job, realtimeUrl: streamUrlFor(req.headers, job.id) } : job;

/**
 * Return the URL at which the client of a request can open the stream of a job: at the host that it called, with `wss`
 * if a proxy says in X-Forwarded-Proto that the client uses TLS. Without a host it is only a path.
 */
function streamUrlFor({ host, 'x-forwarded-proto': proto }: IncomingHttpHeaders, jobId: string): string {
  const path = `/api/v1/realtime/${jobId}`;
  if (host === undefined || !HOST.test(host)) return path;
  // Each proxy on the way may add a value; the first is that of the client.
  const isSecure = /^\s*(?:https|wss)\s*(?:,|$)/i.test(String(proto ?? ''));
  return `${isSecure ? 'wss' : 'ws'}://${host}${path}`;
}

/** Return a request with the default of emit.run: a callback follows each end of the job. */
export const withEmitDefaults = (request: CreateJobRequest): CreateJobRequest => ({
  ...request,
  callbackOn: request.callbackOn ?? [...TERMINAL_STATUSES],
});
