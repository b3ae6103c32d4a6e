import { YardmasterError } from '@yardmaster/protocol';
import { sendEmpty, sendError, setRoute } from '@yardmaster/server';
import type { Request, RequestHandler, Response } from 'express';
import type { Params } from './handle.js';

/** One method of one path. */
export interface Endpoint {
  /** GET serves HEAD as well. */
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path with at most one parameter, directly below its collection: `/api/v1/jobs/:jobId/ack`. */
  path: string;
  respond(req: Request, res: Response, params: Params): void | Promise<void>;
}

interface Entry {
  path: string;
  paramsOf: (id: string) => Params;
  methods: Map<string, Endpoint['respond']>;
  /** Methods of the path, as the `Allow` header lists them. */
  allow: string;
}

/** Collection, id, and the rest of a path. */
const WITH_ID = /^(\/api\/v1\/[a-z]+\/)([^/]+)(.*)$/;

/**
 * Create a router that finds an endpoint by one expression and one look-up. It responds to other methods of a known
 * path with 405, and to OPTIONS with the methods; an unknown path goes to the next handler.
 *
 * Express' own routes would be tried one after the other, which costs a job 10 % more CPU (docs/performance.md). As
 * there, a slash at the end is ignored, and upper and lower case differ.
 */
export function createRouter(endpoints: readonly Endpoint[]): RequestHandler {
  const table = tableOf(endpoints);
  return (req, res, next) => {
    const path = pathOf(req);
    if (path === undefined) return next();
    const match = WITH_ID.exec(path);
    const entry = table.get(match === null ? path : keyOf(match));
    if (entry === undefined) return next();
    const params = entry.paramsOf(match === null ? '' : decoded(match[2] as string));
    setRoute(res, entry.path);
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

/** What an id in a path means, by the name of the parameter; a path without one ignores the id. */
const PARAMS_OF: Record<string, (id: string) => Params> = {
  '': () => ({}),
  ':spaceId': (spaceId) => ({ spaceId }),
  ':jobId': (jobId) => ({ jobId }),
  ':keyId': (keyId) => ({ keyId }),
  ':operationId': (operationId) => ({ operationId }),
};

const keyOf = ([, collection, , rest]: RegExpExecArray) => `${collection}:${rest}`;

function tableOf(endpoints: readonly Endpoint[]): Map<string, Entry> {
  const table = new Map<string, Entry>();
  for (const { method, path, respond } of endpoints) {
    const match = WITH_ID.exec(path);
    const key = match === null ? path.replace(/\/$/, '') : keyOf(match);
    const paramsOf = PARAMS_OF[match?.[2] ?? ''] as Entry['paramsOf'];
    const entry = table.get(key) ?? { path, paramsOf, methods: new Map(), allow: 'OPTIONS' };
    table.set(key, entry);
    for (const served of method === 'GET' ? ['GET', 'HEAD'] : [method]) {
      entry.methods.set(served, respond);
      entry.allow += `, ${served}`;
    }
  }
  return table;
}

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
