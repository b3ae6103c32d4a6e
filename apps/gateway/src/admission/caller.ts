import type { IncomingMessage } from 'node:http';
import {
  checkParameters,
  queryInteger,
  type StreamScope,
  spaceId as spaceIdSchema,
  validate,
  YardmasterError,
} from '@yardmaster/protocol';
import { authenticate, authorize, type KeyCheck, presentedKey, UNKNOWN_ROUTE } from '@yardmaster/server';
import { FILTERS, type Filter, filterOf } from './space-filter.js';

const PREFIX = '/api/v1/realtime/';

/** The job or the space that a stream shows. */
export type Subject = { kind: 'job'; jobId: string } | { kind: 'space'; spaceId: string };

/** A stream as a URL names it. */
export interface StreamUrl {
  subject: Subject;
  query: URLSearchParams;
}

/** Whether a URL is below the path of the streams. */
export function isStreamUrl(url: string | undefined): boolean {
  return url?.startsWith(PREFIX) === true;
}

/** Return the route of a stream's URL as the metrics name it: a pattern, or UNKNOWN_ROUTE for an invalid path. */
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
 * @throws NOT_FOUND for another path, INVALID_REQUEST for an invalid space id
 * @see spec §4.17, §4.18
 */
export function readStreamUrl(url: string): StreamUrl {
  if (!isStreamUrl(url)) throw new YardmasterError('NOT_FOUND');
  const [path = '', text = ''] = url.split(/\?(.*)/s);
  const [first = '', second, ...rest] = path.slice(PREFIX.length).replace(/\/$/, '').split('/').map(decode);
  const query = new URLSearchParams(text);
  if (first === '' || rest.length > 0) throw new YardmasterError('NOT_FOUND');
  if (second === undefined) return { subject: { kind: 'job', jobId: first }, query };
  if (first !== 'spaces' || second === '') throw new YardmasterError('NOT_FOUND');
  return { subject: { kind: 'space', spaceId: validate(spaceIdSchema, second, 'spaceId') }, query };
}

/** The client that requests a stream, and how much of it the client may see. */
export interface StreamCaller {
  /** Id of the API key; null for an anonymous stream. */
  keyId: string | null;
  /** After how many rotations of the key its secret was made. */
  rotation: number;
  /** The space that the key is bound to; null for a key of every space, and for an anonymous stream. */
  spaceId: string | null;
  scope: StreamScope;
  /** Which events of a space the client has asked for; null for all. */
  filter: Filter | null;
  /** Seq of the last event of the job that the client has; null to begin at the present. */
  since: number | null;
  /** Whether the client asks for an event stream, and not for a WebSocket. */
  isEventStream: boolean;
}

export interface CallerRules extends KeyCheck {
  /** Whether a stream of a job of some space in its partition may be opened without a token. */
  mayBeAnonymous(jobId: string): boolean;
}

/** Parameters that the query of a stream may have. Clients of emit.run send the last two, see EmitSpaceChannel. */
const PARAMETERS = { job: ['token', 'since'], space: ['token', ...FILTERS, 'since', 'streamInstanceId'] } as const;

/**
 * Identify the client that requests a stream, by its token, or the API key in a header of an event stream.
 *
 * An empty token is refused, so that a page whose key is missing gets an error, and not a stream that shows less.
 *
 * @throws INVALID_REQUEST, UNAUTHENTICATED, FORBIDDEN, UNAVAILABLE
 * @see spec §5.2 to §5.4, §5.6
 */
export async function callerOf(
  req: IncomingMessage,
  { subject, query }: StreamUrl,
  rules: CallerRules,
): Promise<StreamCaller> {
  checkParameters(query.keys(), PARAMETERS[subject.kind]);
  const filter = subject.kind === 'space' ? filterOf(query) : null;
  const isEventStream = asksForEventStream(req);
  const since =
    subject.kind === 'job' ? sinceOf(query, isEventStream ? req.headers['last-event-id'] : undefined) : null;
  const asked = { filter, since, isEventStream };
  const [token, ...more] = query.getAll('token');
  if (more.length > 0) throw new YardmasterError('INVALID_REQUEST', 'token must appear exactly once');
  const presented = token ?? (isEventStream ? presentedKey(req) : undefined);
  if (presented === undefined) {
    if (subject.kind === 'job' && rules.mayBeAnonymous(subject.jobId)) {
      return { keyId: null, rotation: 0, spaceId: null, scope: 'progress', ...asked };
    }
    throw new YardmasterError('UNAUTHENTICATED');
  }
  const principal = await authenticate(rules, req, presented);
  if (subject.kind === 'job') authorize(principal, ['jobs:read:progress', 'jobs:read']);
  else authorize(principal, ['jobs:read'], subject.spaceId);
  const { keyId, rotation, spaceId, grants } = principal;
  return { keyId, rotation, spaceId, scope: grants.has('jobs:read') ? 'full' : 'progress', ...asked };
}

/** Whether a request without an upgrade asks for an event stream, as the EventSource of a browser does. */
export function asksForEventStream({ method, headers }: IncomingMessage): boolean {
  const isUpgrade = headers.upgrade?.toLowerCase() === 'websocket';
  return method === 'GET' && !isUpgrade && /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(headers.accept ?? '');
}

/**
 * Return the seq after which a stream of a job is to go on; null when the client names none.
 *
 * @param lastEventId that of an EventSource that connects again; it is newer than `since` in its URL
 * @throws INVALID_REQUEST
 */
function sinceOf(query: URLSearchParams, lastEventId: unknown): number | null {
  if (lastEventId !== undefined) return validate(sinceSchema, lastEventId, 'Last-Event-ID');
  if (!query.has('since')) return null;
  const given = query.getAll('since');
  return validate(sinceSchema, given.length === 1 ? given[0] : given, 'since');
}

const sinceSchema = queryInteger(0, Number.MAX_SAFE_INTEGER);
