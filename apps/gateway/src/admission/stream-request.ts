import type { IncomingMessage } from 'node:http';
import {
  checkParameters,
  nameFilter,
  type PublishedMessage,
  queryInteger,
  spaceId as spaceIdSchema,
  spaceStreamType,
  tag,
  validate,
  YardmasterError,
} from '@yardmaster/protocol';
import { presentedKey, UNKNOWN_ROUTE } from '@yardmaster/server';

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
    return parseStreamUrl(url).subject.kind === 'job' ? `${PREFIX}:jobId` : `${PREFIX}spaces/:spaceId`;
  } catch {
    return UNKNOWN_ROUTE;
  }
}

function decode(text: string, name = 'path'): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new YardmasterError('INVALID_REQUEST', `${name} must be valid percent-encoding`);
  }
}

/**
 * Parse `/api/v1/realtime/:jobId?token=…` and `/api/v1/realtime/spaces/:spaceId?token=…`.
 *
 * @throws NOT_FOUND for another path, INVALID_REQUEST for an invalid space id
 * @see docs/streams.md
 */
export function parseStreamUrl(url: string): StreamUrl {
  if (!isStreamUrl(url)) throw new YardmasterError('NOT_FOUND');
  const [path = '', text = ''] = url.split(/\?(.*)/s);
  const [first = '', second, ...rest] = path
    .slice(PREFIX.length)
    .replace(/\/$/, '')
    .split('/')
    .map((part) => decode(part));
  decode(text, 'query'); // URLSearchParams would put U+FFFD in the place of what is malformed.
  const query = new URLSearchParams(text);
  if (first === '' || rest.length > 0) throw new YardmasterError('NOT_FOUND');
  if (second === undefined) return { subject: { kind: 'job', jobId: first }, query };
  if (first !== 'spaces' || second === '') throw new YardmasterError('NOT_FOUND');
  return { subject: { kind: 'space', spaceId: validate(spaceIdSchema, second, 'spaceId') }, query };
}

/** A request for a stream. */
export interface StreamRequest extends StreamUrl {
  /** The API key or the stream token; undefined without one. */
  presented: unknown;
  /** Whether the client asks for the counts of a space. */
  hasCounts: boolean;
  /** Seq of the last event of the job that the client has; null to begin at the present. */
  since: number | null;
  /** Whether the client asks for an event stream, and not for a WebSocket. */
  isEventStream: boolean;
}

/** Parameters of the query that filter the stream of a space. Each may repeat. */
const FILTERS = ['name', 'type', 'tag'] as const;

/** Parameters that the query of a stream may have. Clients of emit.run send the last two of a space, see EmitSpaceChannel. */
const PARAMETERS = {
  job: ['token', 'since'],
  space: ['token', ...FILTERS, 'counts', 'since', 'streamInstanceId'],
} as const;

/**
 * Parse the URL and the headers of a request for a stream.
 *
 * @throws NOT_FOUND, INVALID_REQUEST
 */
export function parseStreamRequest(req: IncomingMessage): StreamRequest {
  const { subject, query } = parseStreamUrl(req.url as string);
  checkParameters(query.keys(), PARAMETERS[subject.kind]);
  const isEventStream = acceptsEventStream(req);
  const token = onceIn(query, 'token');
  return {
    subject,
    query,
    presented: token ?? keyOf(req, isEventStream),
    hasCounts: parseCounts(query),
    since: subject.kind === 'job' ? sinceOf(query, isEventStream ? req.headers['last-event-id'] : undefined) : null,
    isEventStream,
  };
}

/**
 * Return the API key or the stream token in the headers of a request. Another form of `Authorization` is refused like a wrong
 * key, but not for a WebSocket: a browser sends that of a site with Basic authentication, which a page cannot prevent.
 */
const keyOf = (req: IncomingMessage, isEventStream: boolean) =>
  presentedKey(req) ?? (isEventStream && req.headers.authorization !== undefined ? '' : undefined);

/** Return the value of a parameter; undefined without it. @throws INVALID_REQUEST when there are several */
function onceIn(query: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = query.getAll(name);
  if (more.length > 0) throw new YardmasterError('INVALID_REQUEST', `${name} must appear exactly once`);
  return value;
}

/** Parse whether a query asks for the counts of a space. @throws INVALID_REQUEST */
function parseCounts(query: URLSearchParams): boolean {
  const value = onceIn(query, 'counts');
  if (value === undefined || value === '0') return false;
  if (value !== '1') throw new YardmasterError('INVALID_REQUEST', 'counts must be 0 or 1');
  return true;
}

/** Whether a request without an upgrade asks for an event stream, as the EventSource of a browser does. */
export function acceptsEventStream({ method, headers }: IncomingMessage): boolean {
  const isUpgrade = headers.upgrade?.toLowerCase() === 'websocket';
  if ((method !== 'GET' && method !== 'HEAD') || isUpgrade) return false;
  const isEventStream = /^\s*text\/event-stream\s*(;|$)/i;
  const isRefused = /;\s*q=0(\.0*)?\s*(;|$)/i;
  return (headers.accept ?? '').split(',').some((type) => isEventStream.test(type) && !isRefused.test(type));
}

/**
 * Return the seq after which a stream of a job is to continue; null when the client names none.
 *
 * @param lastEventId that of an EventSource that connects again; it is newer than `since` in its URL
 * @throws INVALID_REQUEST
 */
function sinceOf(query: URLSearchParams, lastEventId: unknown): number | null {
  if (lastEventId !== undefined && lastEventId !== '') return validate(sinceSchema, lastEventId, 'Last-Event-ID');
  const since = onceIn(query, 'since');
  return since === undefined ? null : validate(sinceSchema, since, 'since');
}

const sinceSchema = queryInteger(0, Number.MAX_SAFE_INTEGER);

export type Filter = (event: PublishedMessage) => boolean;

/**
 * Read which events a stream of a space shows: those of jobs with one of the names and all of the tags, and of one of the
 * types.
 *
 * @param tagOfToken another tag that the jobs must have; null for none
 * @returns null without filters, for all events
 * @throws INVALID_REQUEST
 * @see docs/streams.md
 */
export function filterOf(query: URLSearchParams, tagOfToken: string | null): Filter | null {
  const names = new Set(query.getAll('name').map((value) => validate(nameFilter, value, 'name')));
  const types = new Set<string>(query.getAll('type').map((value) => validate(spaceStreamType, value, 'type')));
  const tags = query.getAll('tag').map((value) => validate(tag, value, 'tag'));
  if (tagOfToken !== null) tags.push(tagOfToken);
  if (names.size + types.size + tags.length === 0) return null;
  return (event) =>
    (names.size === 0 || names.has(event.jobName)) &&
    (types.size === 0 || types.has(event.type)) &&
    tags.every((wanted) => event.tags?.includes(wanted) === true);
}
