import { STREAM_TOKEN_PREFIX } from '@yardmaster/protocol';
import { viaHttp } from '@yardmaster/sdk/internal/client/http';
import { Target } from '@yardmaster/sdk/internal/client/transport';
import { printable } from '../terminal/printable.js';
import { USER_AGENT } from '../version.js';

/** The address of the service, and the API key of the client. */
export class Service {
  /** Base address, http or https. A path in it is kept, for a service behind a proxy. */
  readonly url: URL;
  /** API key or stream token; null for none. */
  readonly token: string | null;
  /** The same without a final slash and `/api/v1`. */
  readonly base: string;
  /** Where calls go. */
  readonly target: Target;

  constructor(url: URL, token: string | null) {
    this.url = url;
    this.token = token;
    this.base = url.origin + url.pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
    // A fetch of Node.js 20 never settles when a connection is closed right after it was accepted, as load balancers do.
    this.target = new Target({ url: this.base, apiKey: token ?? '', space: '', userAgent: USER_AGENT }, viaHttp);
  }
}

/** The job or the space that is watched. */
export type Subject = { kind: 'job'; jobId: string } | { kind: 'space'; spaceId: string };

/** Whether the client has a stream token, which opens streams and nothing else. */
export const isStreamToken = ({ token }: Service) => token?.startsWith(STREAM_TOKEN_PREFIX) === true;

/** Return the path of a job, or of one of its endpoints, below /api/v1. */
export function jobPath(jobId: string, endpoint = '', query: Query = {}): string {
  return `jobs/${encodeURIComponent(jobId)}${endpoint && `/${endpoint}`}${queryOf(query)}`;
}

/** Return the path of an endpoint of a space, below /api/v1. */
export function spacePath(spaceId: string, endpoint: string, query: Query = {}): string {
  return `spaces/${encodeURIComponent(spaceId)}/${endpoint}${queryOf(query)}`;
}

/** Parameters of a query. A list is repeated; null and undefined are left out. */
export type Query = Record<string, string | number | string[] | null | undefined>;

/** Write a query with its `?`; '' for none. */
export function queryOf(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value ?? []].flat()) parameters.append(name, String(each));
  }
  return parameters.size > 0 ? `?${parameters}` : '';
}

/** Make a text of a server printable, without the API key, because a proxy may quote the headers of the request, also encoded. */
export function redact(text: string, { token }: Service): string {
  if (token === null) return printable(text);
  return printable(text.replaceAll(token, '…').replaceAll(encodeURIComponent(token), '…'));
}
