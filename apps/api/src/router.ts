import { YardmasterError } from '@yardmaster/protocol';
import { sendEmpty, sendError, setRoute } from '@yardmaster/server';
import type { Request, RequestHandler, Response } from 'express';
import type { Params } from './handle.js';

/** One method of one path. */
export interface Endpoint {
  /** GET serves HEAD as well. */
  method: 'GET' | 'POST' | 'DELETE';
  /** Path with at most one parameter, directly below its collection: `/api/v1/jobs/:jobId/ack`. */
  path: string;
  serve(req: Request, res: Response, params: Params): void | Promise<void>;
}

interface Entry {
  path: string;
  parameter: keyof Params | null;
  methods: Map<string, Endpoint['serve']>;
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
    const params = entry.parameter === null ? {} : { [entry.parameter]: decoded(match?.[2] as string) };
    setRoute(res, entry.path);
    const serve = entry.methods.get(req.method);
    return serve === undefined ? refuseMethod(req, res, entry.allow) : serve(req, res, params);
  };
}

/** Return the path without a slash at its end; undefined for an invalid URL. */
function pathOf(req: Request): string | undefined {
  try {
    return req.path.endsWith('/') ? req.path.slice(0, -1) : req.path;
  } catch {
    return undefined;
  }
}

const keyOf = ([, collection, , rest]: RegExpExecArray) => `${collection}:${rest}`;

function tableOf(endpoints: readonly Endpoint[]): Map<string, Entry> {
  const table = new Map<string, Entry>();
  for (const { method, path, serve } of endpoints) {
    const match = WITH_ID.exec(path);
    const key = match === null ? path.replace(/\/$/, '') : keyOf(match);
    const parameter = match === null ? null : (match[2]?.slice(1) as keyof Params);
    const entry = table.get(key) ?? { path, parameter, methods: new Map(), allow: 'OPTIONS' };
    table.set(key, entry);
    for (const served of method === 'GET' ? ['GET', 'HEAD'] : [method]) {
      entry.methods.set(served, serve);
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
