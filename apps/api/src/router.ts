import { YardmasterError } from '@yardmaster/protocol';
import { sendEmpty, sendError, setRoute } from '@yardmaster/server';
import type { Request, RequestHandler, Response } from 'express';
import type { Params } from './call.js';

/** One method of one path. */
export interface Endpoint {
  /** GET also serves HEAD. */
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /**
   * Path with a parameter right after its collection, `/api/v1/jobs/:jobId/ack`; in a space, it can have a second one,
   * `/api/v1/spaces/:spaceId/schedules/:scheduleId`.
   */
  path: string;
  /** Route label in the metrics. Default: the path. */
  route?: string;
  respond(req: Request, res: Response, params: Params): void | Promise<void>;
}

interface Entry {
  route: string;
  paramsOf: (id: string, inner: string) => Params;
  methods: Map<string, Endpoint['respond']>;
  /** Methods of the path, formatted for the `Allow` header. */
  allow: string;
  /** Entries of paths with a fixed word in place of the ID, by that word: `/api/v1/keys/self`. */
  words: Map<string, Entry> | null;
}

/** The collection, the ID and the rest of a path. */
const WITH_ID = /^(\/api\/v1\/[a-z]+\/)([^/]+)(.*)$/;

/** The rest of a path with a second ID: its collection, the ID and the rest. */
const WITH_INNER_ID = /^(\/schedules\/)([^/]+)(.*)$/;

/**
 * Create a router that finds an endpoint with one regular expression and one lookup. On a known path, it answers OPTIONS
 * with the allowed methods and refuses other methods with 405; it passes unknown paths to the next handler.
 *
 * Express tries its routes one by one, which costs 10% more CPU per job (docs/performance/profile.md). As in Express, a
 * trailing slash is ignored and paths are case-sensitive.
 */
export function createRouter(endpoints: readonly Endpoint[]): RequestHandler {
  const table = tableOf(endpoints);
  return (req, res, next) => {
    const path = pathOf(req);
    if (path === undefined) return next();
    const match = WITH_ID.exec(path);
    const inner = match === null ? null : WITH_INNER_ID.exec(match[3] as string);
    const found = table.get(match === null ? path : keyOf(match, inner));
    if (found === undefined) return next();
    const id = match === null ? '' : decoded(match[2] as string);
    const entry = found.words?.get(id) ?? found;
    const params = entry.paramsOf(id, inner === null ? '' : decoded(inner[2] as string));
    setRoute(res, entry.route);
    const respond = entry.methods.get(req.method);
    return respond === undefined ? refuseMethod(req, res, entry.allow) : respond(req, res, params);
  };
}

/** Return the path without a trailing slash; undefined for an invalid URL. */
function pathOf(req: Request): string | undefined {
  // Most URLs are plain paths, which need no parsing.
  const path = USUAL_PATH.test(req.url) ? req.url : parsedPathOf(req);
  return path?.endsWith('/') ? path.slice(0, -1) : path;
}

const USUAL_PATH = /^\/[\w/.:-]*$/;

function parsedPathOf(req: Request): string | undefined {
  try {
    return req.path;
  } catch {
    return undefined;
  }
}

/** Return a function that assigns the ID in a path to its parameter; a path without a parameter ignores the ID. */
function paramsBy(parameter: string): Entry['paramsOf'] {
  if (parameter === '') return () => NO_PARAMS;
  return parameter === ':spaceId' ? (spaceId, id) => ({ spaceId, id }) : (id) => ({ spaceId: '', id });
}

const NO_PARAMS: Params = { spaceId: '', id: '' };

const keyOf = ([, collection, , rest]: RegExpExecArray, inner: RegExpExecArray | null) =>
  `${collection}:${inner === null ? rest : `${inner[1]}:${inner[3]}`}`;

function tableOf(endpoints: readonly Endpoint[]): Map<string, Entry> {
  const table = new Map<string, Entry>();
  // A path with a word in place of the ID belongs to the entry of the path with the ID, which must exist first.
  const wordLast = [...endpoints].sort((a, b) => Number(hasWord(a.path)) - Number(hasWord(b.path)));
  for (const { method, path, route = path, respond } of wordLast) {
    const entry = entryOf(table, path, route);
    for (const served of method === 'GET' ? ['GET', 'HEAD'] : [method]) {
      entry.methods.set(served, respond);
      entry.allow += `, ${served}`;
    }
  }
  return table;
}

/** Return the entry of a path, creating it if needed. */
function entryOf(table: Map<string, Entry>, path: string, route: string): Entry {
  const match = WITH_ID.exec(path);
  if (match === null) return entryIn(table, path.replace(/\/$/, ''), route);
  const key = keyOf(match, WITH_INNER_ID.exec(match[3] as string));
  if (!hasWord(path)) return entryIn(table, key, route, match[2]);
  const withId = table.get(key) as Entry;
  withId.words ??= new Map();
  return entryIn(withId.words, match[2] as string, route);
}

function entryIn(entries: Map<string, Entry>, key: string, route: string, parameter = ''): Entry {
  const entry = entries.get(key) ?? {
    route,
    paramsOf: paramsBy(parameter),
    methods: new Map(),
    allow: 'OPTIONS',
    words: null,
  };
  entries.set(key, entry);
  return entry;
}

/** Return whether a path has a word in place of an ID. */
const hasWord = (path: string) => WITH_ID.exec(path)?.[2]?.startsWith(':') === false;

function decoded(id: string): string {
  try {
    return id.includes('%') ? decodeURIComponent(id) : id;
  } catch {
    throw new YardmasterError('INVALID_REQUEST', 'path must be valid percent-encoding');
  }
}

function refuseMethod(req: Request, res: Response, allow: string): void {
  if (req.method === 'OPTIONS') sendEmpty(res, { allow });
  else sendError(res, new YardmasterError('METHOD_NOT_ALLOWED', `Allowed here: ${allow}`), { allow });
}
