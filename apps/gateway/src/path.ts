import { UNKNOWN_ROUTE } from '@yardmaster/backend';
import { spaceId as spaceIdSchema, validate, YardmasterError } from '@yardmaster/protocol';

const PREFIX = '/api/v1/realtime/';

/** What a stream is of. */
export type Subject = { kind: 'job'; jobId: string } | { kind: 'space'; spaceId: string };

/** A stream as a URL names it. */
export interface StreamUrl {
  subject: Subject;
  /** Every `token` of the query. */
  tokens: string[];
}

/** Whether a URL is below the path of the streams. */
export function isStreamUrl(url: string | undefined): boolean {
  return url?.startsWith(PREFIX) === true;
}

/** Which route a URL below that path is for, as its metrics call it: a pattern, or what is said of a path that is none. */
export function routeOfStream(url: string): string {
  try {
    return readStreamUrl(url).subject.kind === 'job' ? `${PREFIX}:jobId` : `${PREFIX}spaces/:spaceId`;
  } catch {
    return UNKNOWN_ROUTE;
  }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new YardmasterError('INVALID_REQUEST', 'path must be valid percent-encoding');
  }
}

/**
 * Read `/api/v1/realtime/:jobId?token=…` and `/api/v1/realtime/spaces/:spaceId?token=…`.
 *
 * @throws NOT_FOUND for another path, INVALID_REQUEST for a space id that is none
 * @see spec §4.17, §4.18
 */
export function readStreamUrl(url: string): StreamUrl {
  if (!isStreamUrl(url)) throw new YardmasterError('NOT_FOUND');
  const [path = '', query = ''] = url.split(/\?(.*)/s);
  const [first = '', second, ...rest] = path.slice(PREFIX.length).replace(/\/$/, '').split('/').map(decode);
  const tokens = new URLSearchParams(query).getAll('token');
  if (first === '' || rest.length > 0) throw new YardmasterError('NOT_FOUND');
  if (second === undefined) return { subject: { kind: 'job', jobId: first }, tokens };
  if (first !== 'spaces' || second === '') throw new YardmasterError('NOT_FOUND');
  return { subject: { kind: 'space', spaceId: validate(spaceIdSchema, second, 'spaceId') }, tokens };
}
