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

/** The job or space that a stream shows. */
export type Subject = { kind: 'job'; jobId: string } | { kind: 'space'; spaceId: string };

/** A parsed stream URL. */
export interface StreamUrl {
  subject: Subject;
  query: URLSearchParams;
}

/** Return whether a URL is below the path of streams. */
export function isStreamUrl(url: string | undefined): boolean {
  return url?.startsWith(PREFIX) === true;
}

/** Return the route label of a stream's URL for the metrics: a pattern, or UNKNOWN_ROUTE for an invalid path. */
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
 * @throws NOT_FOUND for any other path, INVALID_REQUEST for an invalid space ID
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
  decode(text, 'query'); // URLSearchParams would replace malformed parts with U+FFFD.
  const query = new URLSearchParams(text);
  if (first === '' || rest.length > 0) throw new YardmasterError('NOT_FOUND');
  if (second === undefined) return { subject: { kind: 'job', jobId: first }, query };
  if (first !== 'spaces' || second === '') throw new YardmasterError('NOT_FOUND');
  return { subject: { kind: 'space', spaceId: validate(spaceIdSchema, second, 'spaceId') }, query };
}

/** A request for a stream. */
export interface StreamRequest extends StreamUrl {
  /** The API key or stream token; undefined without one. */
  presented: unknown;
  /** Whether the client asks for the counts of a space. */
  hasCounts: boolean;
  /** Seq of the last event that the client has; null to start at the present. */
  since: number | null;
  /** Whether the client asks for an event stream instead of a WebSocket. */
  isEventStream: boolean;
}

/** Query parameters that filter the stream of a space. Each may be repeated. */
const FILTERS = ['name', 'type', 'tag'] as const;

/** Query parameters of a stream. The last two of a space are for clients of emit.run; see EmitSpaceChannel. */
const PARAMETERS = {
  job: ['token', 'since'],
  space: ['token', ...FILTERS, 'counts', 'since', 'streamInstanceId'],
} as const;

/**
 * Parse the URL and headers of a request for a stream.
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
 * Return the API key or stream token in the headers of a request. Any other kind of `Authorization` is refused like a wrong
 * key, except for a WebSocket: on a site with Basic authentication, browsers always send the credentials.
 */
const keyOf = (req: IncomingMessage, isEventStream: boolean) =>
  presentedKey(req) ?? (isEventStream && req.headers.authorization !== undefined ? '' : undefined);

/** Return the value of a parameter; undefined if it is absent. @throws INVALID_REQUEST if it is repeated */
function onceIn(query: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = query.getAll(name);
  if (more.length > 0) throw new YardmasterError('INVALID_REQUEST', `${name} must appear exactly once`);
  return value;
}

/** Return whether a query asks for the counts of a space. @throws INVALID_REQUEST */
function parseCounts(query: URLSearchParams): boolean {
  const value = onceIn(query, 'counts');
  if (value === undefined || value === '0') return false;
  if (value !== '1') throw new YardmasterError('INVALID_REQUEST', 'counts must be 0 or 1');
  return true;
}

/** Return whether a request without an upgrade asks for an event stream, like a browser's EventSource. */
export function acceptsEventStream({ method, headers }: IncomingMessage): boolean {
  const isUpgrade = headers.upgrade?.toLowerCase() === 'websocket';
  if ((method !== 'GET' && method !== 'HEAD') || isUpgrade) return false;
  const isEventStream = /^\s*text\/event-stream\s*(;|$)/i;
  const isRefused = /;\s*q=0(\.0*)?\s*(;|$)/i;
  return (headers.accept ?? '').split(',').some((type) => isEventStream.test(type) && !isRefused.test(type));
}

/**
 * Return the seq after which to resume the stream of a job; null if the client sends none.
 *
 * @param lastEventId header of a reconnecting EventSource; newer than `since` in the URL
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
 * Create the filter of a space stream: events with one of the types, of jobs with one of the names and all of the tags.
 *
 * @param tagOfToken additional tag that the jobs must have; null for none
 * @returns null if there are no filters
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
