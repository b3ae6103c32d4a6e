import { YardmasterError } from '@yardmaster/protocol';
import { sendEmpty, sendError, setRoute } from '@yardmaster/server';
import type { Request, RequestHandler, Response } from 'express';
import type { Params } from './call.js';

/** One method of one path. */
export interface Endpoint {
  /** GET serves HEAD as well. */
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path with at most one parameter, directly below its collection: `/api/v1/jobs/:jobId/ack`. */
  path: string;
  /** Route in the metrics. Default: the path. */
  route?: string;
  respond(req: Request, res: Response, params: Params): void | Promise<void>;
}

interface Entry {
  route: string;
  paramsOf: (id: string) => Params;
  methods: Map<string, Endpoint['respond']>;
  /** Methods of the path, as the `Allow` header lists them. */
  allow: string;
  /** Entries of paths with this word in place of the id: `/api/v1/keys/self`. */
  words: Map<string, Entry> | null;
}

/** Collection, id, and the rest of a path. */
const WITH_ID = /^(\/api\/v1\/[a-z]+\/)([^/]+)(.*)$/;

/**
 * Create a router that finds an endpoint by one expression and one look-up. It responds to other methods of a known
 * path with 405, and to OPTIONS with the methods; an unknown path goes to the next handler.
 *
 * Express' own routes would be tried one after the other, which costs a job 10% more CPU (docs/performance/profile.md). As
 * there, a slash at the end is ignored, and upper and lower case differ.
 */
export function createRouter(endpoints: readonly Endpoint[]): RequestHandler {
  const table = tableOf(endpoints);
  return (req, res, next) => {
    const path = pathOf(req);
    if (path === undefined) return next();
    const match = WITH_ID.exec(path);
    const found = table.get(match === null ? path : keyOf(match));
    if (found === undefined) return next();
    const id = match === null ? '' : decoded(match[2] as string);
    const entry = found.words?.get(id) ?? found;
    const params = entry.paramsOf(id);
    setRoute(res, entry.route);
    const respond = entry.methods.get(req.method);
    return respond === undefined ? refuseMethod(req, res, entry.allow) : respond(req, res, params);
  };
}

/** Return the path without a slash at its end; undefined for an invalid URL. */
function pathOf(req: Request): string | undefined {
  // Usual URLs are paths already; Express would parse them.
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

/** Return what an id in a path means, by the name of the parameter; a path without one ignores the id. */
function paramsBy(parameter: string): (id: string) => Params {
  if (parameter === '') return () => NO_PARAMS;
  return parameter === ':spaceId' ? (spaceId) => ({ spaceId, id: '' }) : (id) => ({ spaceId: '', id });
}

const NO_PARAMS: Params = { spaceId: '', id: '' };

const keyOf = ([, collection, , rest]: RegExpExecArray) => `${collection}:${rest}`;

function tableOf(endpoints: readonly Endpoint[]): Map<string, Entry> {
  const table = new Map<string, Entry>();
  // A path with a word in place of the id belongs to the entry of the path with the id, which is made first.
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

/** Return the entry of a path, which is made when it is not there yet. */
function entryOf(table: Map<string, Entry>, path: string, route: string): Entry {
  const match = WITH_ID.exec(path);
  if (match === null) return entryIn(table, path.replace(/\/$/, ''), route);
  if (!hasWord(path)) return entryIn(table, keyOf(match), route, match[2]);
  const withId = table.get(keyOf(match)) as Entry;
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

/** Whether a path has a word in place of an id. */
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
