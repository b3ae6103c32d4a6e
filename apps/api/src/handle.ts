import { authenticate, authorize, type KeyCheck, knownCaller, ownerIs } from '@yardmaster/backend';
import { spaceId as spaceIdSchema, validate } from '@yardmaster/protocol';
import type { Store } from '@yardmaster/store';
import type { Request } from 'express';
import { readJson } from './body.js';
import type { RedisQueue, Sent } from './limits/redis-queue.js';
import type { Incoming } from './logs/incoming.js';
import type { BodyBounds, Call, Route } from './route.js';
import { checkSize, type SizeLimits } from './sizes.js';

/** Values of the parameters of a path. */
export interface Params {
  spaceId?: string;
  jobId?: string;
  keyId?: string;
}

/** What the endpoints work with: all of it shared by every request. */
export interface Surroundings extends KeyCheck {
  store: Store;
  callbackMasters: readonly Buffer[];
  sizes: SizeLimits;
  incoming: Incoming;
  /** Address of a request's client. */
  addressOf(req: Request): string;
  /** How long Redis may take over one request, milliseconds. */
  budgetMs: number;
  redisQueue: RedisQueue;
}

/** A long read ends as OVERLOADED so many milliseconds before it would be given up as UNAVAILABLE. */
const TELL_MS = 200;

/** What a request brings: its query, or its body as JSON. */
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
 * Serve one request for one endpoint. The order of the checks is the contract's: path, key, scope, body, job.
 *
 * @returns the body of the answer
 * @throws every refusal there is
 */
export async function handle(
  route: Route,
  { spaceId, jobId = '', keyId = '' }: Params,
  req: Request,
  around: Surroundings,
): Promise<unknown> {
  const { store, keyRing, callbackMasters } = around;
  if (spaceId !== undefined) validate(spaceIdSchema, spaceId, 'spaceId');

  const presented = req.headers['x-api-key'];
  let left = around.budgetMs;
  let caller = knownCaller(keyRing, presented);
  if (caller === undefined) {
    const began = performance.now();
    // Whose key it is, is not known yet. A client that sends wrong keys takes turns by its address.
    const owner = around.addressOf(req);
    const run = () => authenticate(around, req, presented);
    caller = await around.redisQueue.send({ isUrgent: route.isUrgent === true, owner, withinMs: left, run });
    left -= performance.now() - began;
  }
  ownerIs(req.socket, caller.keyId, route.isUrgent === true);
  authorize(caller, route.scopes, spaceId);

  // Its input is put in when it is known: a copy with it, by `...`, is made property by property.
  const call: Call = {
    store,
    keyRing,
    callbackMasters,
    caller,
    spaceId: spaceId ?? '',
    jobId,
    keyId,
    input: undefined,
  };
  if (route.read) return serveRead(route, route.read, { req, around, call, left });
  // A request that brings nothing, as every ack, is spared the waiting.
  if (route.body !== undefined || route.query !== undefined) call.input = await inputOf(route, req, around.sizes);
  return sendToRedis(route, call, left, around);
}

function sendToRedis(route: Route, call: Call, withinMs: number, { redisQueue }: Surroundings): Promise<unknown> {
  if (route.isLocal === true) return route.run(call);
  return redisQueue.send({
    isUrgent: route.isUrgent === true,
    owner: call.caller.keyId,
    withinMs,
    run: (sent) => route.run(route.isLong === true ? { ...call, store: leavingForTurns(call.store, sent) } : call),
  });
}

/** A store whose long reads free their place at Redis while they wait for their turn, and end before they are given up. */
const leavingForTurns = (store: Store, { stopCounting, endsAt }: Sent): Store => {
  const leaving =
    (inTurn: Store['inTurn']): Store['inTurn'] =>
    (owner, work) => {
      stopCounting();
      return inTurn(owner, work, endsAt - TELL_MS);
    };
  return { ...store, inTurn: leaving(store.inTurn), inSearchTurn: leaving(store.inSearchTurn) };
};

/** The rest of it for a row that reads its body itself, and may hold room for it until all is done. */
async function serveRead(
  route: Route,
  read: NonNullable<Route['read']>,
  { req, around, call, left }: { req: Request; around: Surroundings; call: Call; left: number },
): Promise<unknown> {
  let release: () => void = () => undefined;
  const onDone: BodyBounds['onDone'] = (then) => {
    release = then;
  };
  try {
    call.input = await read(req, { ...around, onDone });
    return await sendToRedis(route, call, left, around);
  } finally {
    // Not when the answer is closed: that of a request behind another one never is, when the client goes away.
    release();
  }
}
