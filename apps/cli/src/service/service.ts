import { printable } from '../terminal/printable.js';

/** The address of the service, and the API key of the client. */
export interface Service {
  /** Base address, http or https. A path in it is kept, for a service behind a proxy. */
  url: URL;
  /** API key; null for none. */
  token: string | null;
}

/** The job or the space that is watched. */
export type Subject = { kind: 'job'; jobId: string } | { kind: 'space'; spaceId: string };

/**
 * Return the address of a stream.
 *
 * @see spec §4.17, §4.18
 */
export function streamUrlOf({ url, token }: Service, subject: Subject): URL {
  const path =
    subject.kind === 'job'
      ? `realtime/${encodeURIComponent(subject.jobId)}`
      : `realtime/spaces/${encodeURIComponent(subject.spaceId)}`;
  const address = below(url, path);
  address.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  if (token !== null) address.searchParams.set('token', token);
  return address;
}

/**
 * Return the address of a job.
 *
 * @see spec §4.5
 */
export function jobUrlOf(url: URL, jobId: string): URL {
  return below(url, `jobs/${encodeURIComponent(jobId)}`);
}

/**
 * Return the address of a job's progress.
 *
 * @see spec §4.6
 */
export function progressUrlOf(url: URL, jobId: string): URL {
  return below(url, `jobs/${encodeURIComponent(jobId)}/progress`);
}

/**
 * Return the address of a job's logs.
 *
 * @see spec §4.7
 */
export function logsUrlOf(url: URL, jobId: string, query: URLSearchParams): URL {
  const address = below(url, `jobs/${encodeURIComponent(jobId)}/logs`);
  address.search = query.toString();
  return address;
}

/** Return the address of a space's callback secrets. */
export function callbackSecretUrlOf(url: URL, spaceId: string): URL {
  return below(url, `spaces/${encodeURIComponent(spaceId)}/callback-secret`);
}

function below(url: URL, path: string): URL {
  return new URL(`${url.pathname.replace(/\/+$/, '')}/api/v1/${path}`, url);
}

/** Make a text of a server printable, without the API key, because the text may quote the address of the request. */
export function redact(text: string, { token }: Service): string {
  if (token === null) return printable(text);
  // The last is the spelling in a query.
  const spellings = [token, encodeURIComponent(token), new URLSearchParams({ '': token }).toString().slice(1)];
  return printable(spellings.reduce((hidden, spelling) => hidden.replaceAll(spelling, '…'), text));
}
