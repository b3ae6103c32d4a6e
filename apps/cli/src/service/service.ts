import { STREAM_TOKEN_PREFIX } from '@yardmaster/protocol';
import { viaHttp } from '@yardmaster/sdk/internal/client/http';
import { Target } from '@yardmaster/sdk/internal/client/transport';
import { printable } from '../terminal/printable.js';
import { USER_AGENT } from '../version.js';

/** The URL of the service, and the API key to use. */
export class Service {
  /** Base URL, http or https. It may have a path, for a service behind a proxy. */
  readonly url: URL;
  /** API key or stream token; null for none. */
  readonly token: string | null;
  /** Base URL without a trailing slash or `/api/v1`. */
  readonly base: string;
  /** Target of calls, for the SDK. */
  readonly target: Target;

  constructor(url: URL, token: string | null) {
    this.url = url;
    this.token = token;
    this.base = url.origin + url.pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
    // Don't use fetch: in Node.js 20 it hangs if a load balancer accepts a connection and closes it immediately.
    this.target = new Target({ url: this.base, apiKey: token ?? '', space: '', userAgent: USER_AGENT }, viaHttp);
  }
}

/** The job or space to watch. */
export type Subject = { kind: 'job'; jobId: string } | { kind: 'space'; spaceId: string };

/** Whether the key is a stream token, which opens streams and nothing else. */
export const isStreamToken = ({ token }: Service) => token?.startsWith(STREAM_TOKEN_PREFIX) === true;

/** Return the path of a job or of one of its endpoints, relative to /api/v1. */
export function jobPath(jobId: string, endpoint = '', query: Query = {}): string {
  return `jobs/${encodeURIComponent(jobId)}${endpoint && `/${endpoint}`}${queryOf(query)}`;
}

/** Return the path of an endpoint of a space, relative to /api/v1. */
export function spacePath(spaceId: string, endpoint: string, query: Query = {}): string {
  return `spaces/${encodeURIComponent(spaceId)}/${endpoint}${queryOf(query)}`;
}

/** Query parameters. A list repeats its parameter; null and undefined are omitted. */
export type Query = Record<string, string | number | string[] | null | undefined>;

/** Format a query with its leading `?`; '' if it has no parameters. */
export function queryOf(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value ?? []].flat()) parameters.append(name, String(each));
  }
  return parameters.size > 0 ? `?${parameters}` : '';
}

/** Make a server's text printable, and hide the API key: a proxy may quote request headers, even URL-encoded. */
export function redact(text: string, { token }: Service): string {
  if (token === null) return printable(text);
  return printable(text.replaceAll(token, '…').replaceAll(encodeURIComponent(token), '…'));
}
