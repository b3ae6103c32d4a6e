import { spaceId as spaceIdSchema, validate } from '@yardmaster/protocol';
import { authenticate, authorize, cachedPrincipal, type KeyCheck, setOwner } from '@yardmaster/server';
import type { Store } from '@yardmaster/store';
import type { Request } from 'express';
import { readJson } from './body.js';
import type { InflateBudget } from './limits/inflate-budget.js';
import type { RedisQueue, Sent } from './limits/redis-queue.js';
import type { BodyBounds, Call, Route } from './route.js';
import { checkSize, type SizeLimits } from './sizes.js';

/** Values of the parameters of a path. */
export interface Params {
  spaceId?: string;
  jobId?: string;
  keyId?: string;
}

/** What all endpoints need; every request shares it. */
export interface RouteDependencies extends KeyCheck {
  store: Store;
  callbackMasters: readonly Buffer[];
  sizes: SizeLimits;
  inflateBudget: InflateBudget;
  /** Return the address of a request's client. */
  addressOf(req: Request): string;
  /** How long Redis may take over one request, milliseconds. */
  budgetMs: number;
  redisQueue: RedisQueue;
}

/** How many milliseconds before the limit a long read ends as OVERLOADED, so that it does not end as UNAVAILABLE. */
const TELL_MS = 200;

/** Read the input of a request: its query, or its body as JSON. */
async function inputOf(route: Route, req: Request, sizes: SizeLimits): Promise<unknown> {
  if (route.query) return validate(route.query, req.query, 'query');
  if (route.body === undefined) return undefined;
  const { value, bytes } = await readJson(req, sizes.bodyBytes);
  const input = validate(route.body, value === undefined ? (route.absentBody === null ? null : {}) : value);
  for (const { path, limit } of route.measured ?? []) {
    const part = path === null ? input : (input as Record<string, unknown>)[path];
    checkSize(path ?? 'body', part, sizes[limit], bytes);
  }
  return input;
}

/**
 * Serve one request for one endpoint. The contract sets the order of the checks: path, key, scope, body, job.
 *
 * @returns the body of the response
 * @throws every refusal that exists
 */
export async function handle(
  route: Route,
  { spaceId, jobId = '', keyId = '' }: Params,
  req: Request,
  deps: RouteDependencies,
): Promise<unknown> {
  const { store, authenticator, callbackMasters } = deps;
  if (spaceId !== undefined) validate(spaceIdSchema, spaceId, 'spaceId');

  const presented = req.headers['x-api-key'];
  let left = deps.budgetMs;
  let caller = cachedPrincipal(authenticator, presented);
  if (caller === undefined) {
    const began = performance.now();
    // The owner of the key is not known yet. A client that sends wrong keys gets its turns by its address.
    const owner = deps.addressOf(req);
    const run = () => authenticate(deps, req, presented);
    caller = await deps.redisQueue.send({ isUrgent: route.isUrgent === true, owner, withinMs: left, run });
    left -= performance.now() - began;
  }
  setOwner(req.socket, caller.keyId, route.isUrgent === true);
  authorize(caller, route.scopes, spaceId);

  // The input is set once it is known, because a copy by `...` is made property by property.
  const call: Call = {
    store,
    authenticator,
    callbackMasters,
    caller,
    spaceId: spaceId ?? '',
    jobId,
    keyId,
    input: undefined,
  };
  if (route.read) return serveRead(route, route.read, { req, deps, call, left });
  // A request without input, such as every ack, does not have to wait for it.
  if (route.body !== undefined || route.query !== undefined) call.input = await inputOf(route, req, deps.sizes);
  return sendToRedis(route, call, left, deps);
}

function sendToRedis(route: Route, call: Call, withinMs: number, { redisQueue }: RouteDependencies): Promise<unknown> {
  if (route.isLocal === true) return route.run(call);
  return redisQueue.send({
    isUrgent: route.isUrgent === true,
    owner: call.caller.keyId,
    withinMs,
    run: (sent) => route.run(route.isLong === true ? { ...call, store: leavingForReadSlots(call.store, sent) } : call),
  });
}

/** Return a store whose long reads free their place at Redis while they wait for a read slot, and end in time. */
const leavingForReadSlots = (store: Store, { stopCounting, endsAt }: Sent): Store => {
  const leaving =
    (inTurn: Store['withReadSlot']): Store['withReadSlot'] =>
    (owner, work) => {
      stopCounting();
      return inTurn(owner, work, endsAt - TELL_MS);
    };
  return { ...store, withReadSlot: leaving(store.withReadSlot), withSearchSlot: leaving(store.withSearchSlot) };
};

/** Serve the rest of a request whose row reads its body itself, and may reserve budget for it until all is done. */
async function serveRead(
  route: Route,
  read: NonNullable<Route['read']>,
  { req, deps, call, left }: { req: Request; deps: RouteDependencies; call: Call; left: number },
): Promise<unknown> {
  let release: () => void = () => undefined;
  const onDone: BodyBounds['onDone'] = (then) => {
    release = then;
  };
  try {
    call.input = await read(req, { ...deps, onDone });
    return await sendToRedis(route, call, left, deps);
  } finally {
    // Not when the response closes: when the client goes away, a response behind another one never closes.
    release();
  }
}
